#pragma once

#include <string>

namespace pollen::detail {

// What came of an attempt to lock an open file.
enum class Locking {
    held,
    busy,   // somebody else has the lock
    moved,  // the name belongs to another file by now, or to none
    none    // the file system has no locks
};
// Tries to lock the file of this name (flock).
Locking lock_file(int file, const std::string& name);
[[noreturn]] void fail_busy(const std::string& path);

// While it lives, no other FileLock for the same file can be made, in this process or in another.
//
// It is the system's lock (flock) on an empty file `.NAME.lock` beside the file. The file itself would not do: it is
// replaced by renaming, and each time the lock would go with the old one. The system drops the lock when the process
// ends in any way. The destructor removes `.NAME.lock`; one that a killed process left behind is taken over. Two files
// of one folder whose names have the same first 200 characters have the same lock.
class FileLock {
  public:
    // Throws a FileError if somebody else holds the lock, or if `.NAME.lock` cannot be made. If `may_read` is true and
    // it cannot be made because nothing may be written there, check_writable() throws that error instead.
    explicit FileLock(const std::string& path, bool may_read = false);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

    // False where the file system has no locks, as some network file systems, and where nothing may be written: then
    // nobody is kept away.
    bool held() const { return held_; }
    void check_writable() const;

  private:
    bool take(const std::string& path, bool may_read);
    void drop() noexcept;

    std::string lock_;
    int file_ = -1;
    bool held_ = false;
    std::string read_only_;  // why nothing may be written, if so
};

}  // namespace pollen::detail
