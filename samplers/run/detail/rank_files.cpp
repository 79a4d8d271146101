#include <pollen/samplers/run/detail/rank_files.hpp>

#include <pollen/autograd/support/detail/all_gathered.hpp>
#include <pollen/data/io/atomic_file.hpp>
#include <pollen/samplers/draws/detail/check_rows.hpp>
#include <pollen/samplers/run/detail/chain_file.hpp>
#include <pollen/samplers/run/detail/same_directory.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

namespace pollen::detail {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 22;  // of a file on its way

bool is_there(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

ReadLimits limits_of(const RunPlan& plan) {
    return {.max_bytes = std::max(ReadLimits{}.max_bytes, plan.options.max_memory)};
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
    plan.group().together([&] { make_directory(plan.options.directory); });
    same_ = ranks_with_directory_of_0(plan);
}

bool RankFiles::is_common() const {
    return std::all_of(same_.begin(), same_.end(), [](char same) { return same != 0; });
}

// Of the two files of a chain in the directory of this rank.
double RankFiles::bytes_of(std::int64_t chain) const {
    double bytes = 0;
    for (const char* ending : {".csv", ".state"}) {
        std::error_code error;
        const std::uintmax_t size = std::filesystem::file_size(plan_->file(chain, ending), error);
        if (!error) bytes += static_cast<double>(size);
    }
    return bytes;
}

// Throws a FileError unless the rows of a chain are those that its state speaks of.
void RankFiles::check(std::int64_t chain) const {
    const std::string state = plan_->file(chain, ".state");
    check_rows_of_file(plan_->file(chain, ".csv"), read_saved(state, limits_of(*plan_)).state.rows, state);
}

bool RankFiles::is_whole(std::int64_t chain) const {
    try {
        check(chain);
        return true;
    } catch (const FileError&) {
        return false;
    }
}

// The rows go first: rows that the state does not know of are cut off when the chain is restored.
void RankFiles::copy(std::int64_t chain, int from, int to) const {
    Group& group = plan_->group();
    const std::string csv = plan_->file(chain, ".csv"), state = plan_->file(chain, ".state");
    ChainFile lock;
    group.together([&] {
        if (group.rank() != from) return;
        if (!is_there(csv))
            throw FileError(csv + ": is gone, but " + state +
                            " is there; without its draws the run cannot go on. Remove that state, or choose another "
                            "directory");
        lock.open(csv, false, true);
        check(chain);
    });
    group.together([&] {
        if (group.rank() == to) lock.open(csv, false);
    });
    copy_file(group, from, to, csv);
    copy_file(group, from, to, state);
}

void RankFiles::fetch() {
    Group& group = plan_->group();
    if (is_common()) return;
    const RunOptions& o = plan_->options;
    const std::int64_t chains = plan_->chains();
    steps_.assign(static_cast<std::size_t>(chains), -1);
    std::vector<std::int64_t> steps = steps_;
    group.together([&] {
        for (std::int64_t c = 0; c < chains; ++c) {
            const std::int64_t chain = number(c);
            const std::string state = plan_->file(chain, ".state"), csv = plan_->file(chain, ".csv");
            if (o.resume && is_there(state))
                steps[static_cast<std::size_t>(c)] = saved_steps(state, plan_->about_chain(chain), limits_of(*plan_));
            if (o.resume || group.rank() > 0) continue;
            for (const std::string& path : {state, csv})
                if (is_there(path))
                    throw FileError(path +
                                    ": is there already; resume that run, remove its files, or choose another "
                                    "directory");
        }
    });
    if (!o.resume) return;
    steps = all_gathered(group, std::move(steps));
    for (std::int64_t c = 0; c < chains; ++c) {
        const auto steps_on = [&](int rank) { return steps[static_cast<std::size_t>(rank * chains + c)]; };
        const int owner = plan_->shares.owner(c);
        int best = owner;
        for (int rank = 0; rank < group.size(); ++rank)
            if (steps_on(rank) > steps_on(best)) best = rank;
        if (best != owner) copy(number(c), best, owner);
        group.together([&] {
            if (group.rank() > 0 || same_[static_cast<std::size_t>(owner)] != 0 || steps_on(0) < steps_on(best)) return;
            if (best == 0 || is_whole(number(c))) steps_[static_cast<std::size_t>(c)] = steps_on(0);
        });
    }
}

double RankFiles::incoming(const std::vector<double>& left, const std::vector<std::int64_t>& steps) const {
    if (is_common()) return 0;
    Group& group = plan_->group();
    std::vector<double> held;
    for (std::int64_t c = 0; c < plan_->own_chains(); ++c) held.push_back(bytes_of(plan_->first_own() + c + 1));
    held = all_gathered(group, std::move(held));
    const std::vector<double> all_left = all_gathered(group, left);
    const std::vector<std::int64_t> all_steps = all_gathered(group, steps);
    if (group.rank() > 0) return 0;
    // A copy is beside the file that it replaces, until it is complete.
    double bytes = 0, replaced = 0;
    for (std::size_t c = 0; c < all_steps.size(); ++c) {
        if (same_[static_cast<std::size_t>(plan_->shares.owner(static_cast<std::int64_t>(c)))] != 0) continue;
        if (all_left[c] == 0 && all_steps[c] == steps_[c]) continue;
        const double old = bytes_of(number(static_cast<std::int64_t>(c)));
        bytes += std::max(0.0, held[c] + all_left[c] - old);
        replaced = std::max(replaced, old);
    }
    return bytes + replaced;
}

void RankFiles::deliver(const std::vector<std::int64_t>& steps) const {
    if (is_common()) return;
    Group& group = plan_->group();
    const std::vector<std::int64_t> made = all_gathered(group, steps);
    std::vector<std::int64_t> has = steps_;
    group.broadcast(std::span(has));
    std::exception_ptr error;
    for (std::size_t c = 0; c < made.size(); ++c) {
        const int owner = plan_->shares.owner(static_cast<std::int64_t>(c));
        if (same_[static_cast<std::size_t>(owner)] != 0 || made[c] == has[c]) continue;
        try {
            copy(number(static_cast<std::int64_t>(c)), owner, 0);
        } catch (const Error&) {
            if (group.failed()) throw;
            if (!error) error = std::current_exception();
        }
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace pollen::detail
