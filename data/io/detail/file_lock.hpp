#pragma once

#include <string>

namespace pollen::detail {

// While it lives, no other FileLock for the same file can be made, in this process or in another.
//
// It is the system's lock (flock) on an empty file `.NAME.lock` beside the file. The file itself would not do: it is
// replaced by renaming, and each time the lock would go with the old one. The system drops the lock when the process
// ends in any way. The destructor removes `.NAME.lock`; one that a killed process left behind is taken over.
class FileLock {
  public:
    // Throws a FileError if somebody else holds the lock, or if `.NAME.lock` cannot be made.
    explicit FileLock(const std::string& path);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

    // False where the file system has no locks, as some network file systems: then nobody is kept away.
    bool held() const { return held_; }

  private:
    bool take(const std::string& path);
    void drop() noexcept;

    std::string lock_;
    int file_ = -1;
    bool held_ = false;
};

}  // namespace pollen::detail
