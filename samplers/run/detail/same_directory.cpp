#include <pollen/samplers/run/detail/same_directory.hpp>

#include <pollen/autograd/support/detail/all_gathered.hpp>
#include <pollen/data/io/detail/crc32.hpp>
#include <pollen/data/io/detail/file_calls.hpp>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <system_error>

namespace pollen::detail {

namespace {

// Whether a new file could be made.
bool make_file(const std::string& path) {
    const int file = uninterrupted(
        [&] { return file_calls().open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666); });
    return file >= 0 && file_calls().close(file) == 0;
}

// What tells a file from those of the same name in other directories: its bytes, and when they were written. Empty if
// there is none.
std::string look_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::error_code error;
    const auto time = std::filesystem::last_write_time(path, error).time_since_epoch().count();
    if (!in || error) return "";
    Crc32 sum;
    std::uint64_t size = 0;
    std::vector<char> piece(std::size_t{1} << 20);
    while (in.read(piece.data(), std::ssize(piece)) || in.gcount() > 0) {
        const auto count = static_cast<std::size_t>(in.gcount());
        sum.add(piece.data(), count);
        size += count;
    }
    return std::to_string(size) + " bytes, " + crc32_text(sum.sum()) + ", " + std::to_string(time);
}

// A name that no file has had before: a network file system may remember for a while that there was none of a name. It
// is a temporary file of the first chain, so that the next run removes it if this one is killed at this moment.
std::string new_name(const RunPlan& plan) {
    std::random_device random;
    return ".chain_" + std::to_string(plan.first_chain + 1) + ".csv." + std::to_string(random()) +
           std::to_string(random()) + "-" + std::to_string(random()) + ".tmp";
}

}  // namespace

std::vector<char> ranks_with_directory_of_0(const RunPlan& plan) {
    Group& group = plan.group();
    if (group.size() == 1) return {1};
    std::string name;
    group.together([&] {
        if (group.rank() > 0) return;
        name = new_name(plan);
        const std::string path = (std::filesystem::path(plan.options.directory) / name).string();
        // The directory of a finished run may be one that nobody writes to. Its files are looked for then.
        if (!make_file(path))
            name = std::filesystem::path(plan.file(plan.first_chain + 1, ".state")).filename().string();
    });
    name = group.broadcast(name);
    const std::string path = (std::filesystem::path(plan.options.directory) / name).string();
    const bool made = name[0] == '.';
    std::error_code ignored;
    std::string look;
    group.together([&] {
        if (!made) look = look_of(path);
    });
    const std::string look_on_0 = group.broadcast(look);
    std::vector<char> same = all_gathered(
        group, std::vector<char>{made ? std::filesystem::exists(path, ignored) : !look.empty() && look == look_on_0});
    same[0] = 1;
    if (group.rank() == 0 && made) std::filesystem::remove(path, ignored);
    return same;
}

}  // namespace pollen::detail
