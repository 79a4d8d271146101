#include <pollen/samplers/run/detail/rank_files.hpp>

#include <pollen/data/io/atomic_file.hpp>
#include <pollen/samplers/run/detail/chain_file.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>

namespace pollen::detail {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 22;  // of a file on its way

bool is_there(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

// A name that no file has had before: a network file system may remember for a while that there was none of a name. It
// is a temporary file of the first chain, so that the next run removes it if this one is killed at this moment.
std::string new_name(const RunPlan& plan) {
    std::random_device random;
    return ".chain_" + std::to_string(plan.first_chain + 1) + ".csv." + std::to_string(random()) +
           std::to_string(random()) + "-" + std::to_string(random()) + ".tmp";
}

// Copies a file from rank to rank: a call of the whole group. Each rank has its own path.
void copy_file(Group& group, int from, int to, const std::string& path) {
    std::ifstream in;
    std::optional<AtomicFile> out;
    std::uint64_t size = 0;
    std::vector<char> piece;
    const bool sends = group.rank() == from, receives = group.rank() == to;
    group.together([&] {
        if (sends) {
            in.open(path, std::ios::binary | std::ios::ate);
            size = in ? static_cast<std::uint64_t>(in.tellg()) : 0;
            if (!in.seekg(0)) throw FileError(path + ": cannot be read");
        }
        if (receives) out.emplace(path);
        if (sends || receives) piece.resize(piece_bytes);
    });
    group.broadcast(std::span(&size, 1), from);
    for (std::uint64_t at = 0; at < size; at += piece_bytes) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, size - at));
        group.together([&] {
            if (sends && !in.read(piece.data(), static_cast<std::ptrdiff_t>(count)))
                throw FileError(path + ": cannot be read");
        });
        {
            Group::Call call(group, "a piece of a file");
            const auto bytes = std::as_writable_bytes(std::span(piece)).first(sends || receives ? count : 0);
            if (sends) call.send(to, bytes);
            if (receives) call.receive(from, bytes);
        }
        group.together([&] {
            if (receives) out->write(piece.data(), count);
        });
    }
    group.together([&] {
        if (receives) out->commit();
    });
}

}  // namespace

RankFiles::RankFiles(const RunPlan& plan) : plan_(&plan) {
    Group& group = plan.group();
    group.together([&] { make_directory(plan.options.directory); });
    same_.assign(static_cast<std::size_t>(group.size()), 1);
    if (group.size() == 1) return;
    std::string name;
    group.together([&] {
        if (group.rank() > 0) return;
        name = new_name(plan);
        const std::string path = (std::filesystem::path(plan.options.directory) / name).string();
        // The directory of a finished run may be one that nobody writes to. Its files are looked for then.
        if (!std::ofstream(path))
            name = std::filesystem::path(plan.file(plan.first_chain + 1, ".state")).filename().string();
    });
    name = group.broadcast(name);
    const std::string path = (std::filesystem::path(plan.options.directory) / name).string();
    const std::vector<std::string> sees = group.all_gather(is_there(path) ? "y" : "n");
    for (std::size_t rank = 1; rank < sees.size(); ++rank) same_[rank] = sees[rank] == "y";
    std::error_code ignored;
    if (group.rank() == 0 && name[0] == '.') std::filesystem::remove(path, ignored);
}

bool RankFiles::is_common() const {
    return std::all_of(same_.begin(), same_.end(), [](char same) { return same != 0; });
}

// The rows go first: rows that the state does not know of are cut off when the chain is restored.
void RankFiles::copy(std::int64_t chain, int from, int to) const {
    Group& group = plan_->group();
    const std::string csv = plan_->file(chain, ".csv");
    ChainFile lock;
    group.together([&] {
        if (group.rank() == from || group.rank() == to) lock.open(csv, false, group.rank() == from);
    });
    copy_file(group, from, to, csv);
    copy_file(group, from, to, plan_->file(chain, ".state"));
}

void RankFiles::fetch() const {
    Group& group = plan_->group();
    if (is_common()) return;
    const RunOptions& o = plan_->options;
    const std::int64_t chains = plan_->chains();
    std::vector<std::int64_t> steps(static_cast<std::size_t>(chains), -1);
    group.together([&] {
        const ReadLimits limits{.max_bytes = std::max(ReadLimits{}.max_bytes, o.max_memory)};
        for (std::int64_t c = 0; c < chains; ++c) {
            const std::int64_t chain = plan_->first_chain + c + 1;
            const std::string state = plan_->file(chain, ".state"), csv = plan_->file(chain, ".csv");
            if (o.resume && is_there(state))
                steps[static_cast<std::size_t>(c)] = saved_steps(state, plan_->about_chain(chain), limits);
            if (o.resume || group.rank() > 0) continue;
            for (const std::string& path : {state, csv})
                if (is_there(path))
                    throw FileError(path +
                                    ": is there already; resume that run, remove its files, or choose another "
                                    "directory");
        }
    });
    if (!o.resume) return;
    const std::string mine(reinterpret_cast<const char*>(steps.data()), steps.size() * sizeof steps[0]);
    const std::vector<std::string> all = group.all_gather(mine);
    for (std::int64_t c = 0; c < chains; ++c) {
        const auto steps_on = [&](int rank) {
            std::int64_t n = 0;
            const std::string& text = all[static_cast<std::size_t>(rank)];
            std::memcpy(&n, text.data() + static_cast<std::size_t>(c) * sizeof n, sizeof n);
            return n;
        };
        const int owner = plan_->shares.owner(c);
        int best = owner;
        for (int rank = 0; rank < group.size(); ++rank)
            if (steps_on(rank) > steps_on(best)) best = rank;
        if (best != owner) copy(plan_->first_chain + c + 1, best, owner);
    }
}

void RankFiles::deliver() const {
    for (std::int64_t c = 0; c < plan_->chains(); ++c) {
        const int owner = plan_->shares.owner(c);
        if (same_[static_cast<std::size_t>(owner)] == 0) copy(plan_->first_chain + c + 1, owner, 0);
    }
}

}  // namespace pollen::detail
