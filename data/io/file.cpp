#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/io/detail/file_place.hpp>
#include <pollen/data/io/detail/memory_budget.hpp>
#include <pollen/data/io/detail/open_file.hpp>
#include <pollen/data/io/file.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace pollen {

namespace {

std::vector<std::byte> whole_file(const std::string& path, const ReadLimits& limits) {
    const detail::OpenFile file(path);
    const detail::MemoryBudget check_size(path, limits, file.size());
    std::vector<std::byte> bytes;
    detail::resize(bytes, static_cast<std::size_t>(file.size()), path);
    file.read(0, bytes);
    file.check_not_longer();
    return bytes;
}

}  // namespace

std::uint64_t ReadLimits::memory(std::uint64_t file_bytes) const {
    constexpr std::uint64_t least = std::uint64_t{48} << 20, times = 48;
    if (max_memory > 0) return max_memory;
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t with_file = max_bytes > most - file_bytes ? most : max_bytes + file_bytes;
    if (file_bytes > most / times) return with_file;
    return std::min(with_file, std::max(least, times * file_bytes));
}

std::vector<std::byte> read_bytes(const std::string& path, const ReadLimits& limits) {
    return detail::with_errors_at(path, [&] { return whole_file(path, limits); });
}

void make_directory(const std::string& path) {
    detail::check_path(path);
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (!error && !std::filesystem::is_directory(path, error) && !error)
        error = std::make_error_code(std::errc::not_a_directory);
    if (error) throw FileError(path + ": the directory cannot be made: " + error.message());
}

}  // namespace pollen
