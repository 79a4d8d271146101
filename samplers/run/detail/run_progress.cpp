#include <pollen/samplers/run/detail/run_progress.hpp>

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace pollen::detail {

namespace {

constexpr std::int64_t lines = 20;                      // in a log
constexpr double line_pause = 2, terminal_pause = 0.1;  // seconds

struct TerminalSize {
    std::size_t columns = 79, rows = 24;  // that can be written to
};
TerminalSize terminal_size() {
    winsize size{};
    TerminalSize result;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return result;
    if (size.ws_col > 1) result.columns = size.ws_col - std::size_t{1};
    if (size.ws_row > 1) result.rows = size.ws_row - std::size_t{1};
    return result;
}

}  // namespace

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string status_text(const ChainStatus& s, std::int64_t total, const std::string& time_left, bool brief) {
    char part[64];
    const double share = total > 0 ? static_cast<double>(s.steps) / static_cast<double>(total) : 1;
    std::snprintf(part, sizeof part, "%-8s %3d %%",
                  s.steps >= total ? "done"
                  : s.warmup       ? "warm-up"
                                   : "sampling",
                  static_cast<int>(100 * share));
    std::string text = part + time_left;
    if (!std::isnan(s.acceptance)) {
        std::snprintf(part, sizeof part, "  %s %.2f", brief ? "accept" : "acceptance", s.acceptance);
        text += part;
    }
    if (!std::isnan(s.step_size)) {
        std::snprintf(part, sizeof part, "  step %.3g", s.step_size);
        text += part;
    }
    if (!s.divergences) return text;
    return text + "  " + std::to_string(*s.divergences) +
           (brief                 ? " div"
            : *s.divergences == 1 ? " divergence"
                                  : " divergences");
}

std::string all_text(std::span<const ChainStatus> chains, std::int64_t total) {
    std::int64_t done = 0, divergences = 0, finished = 0, warm = 0;
    bool can_diverge = false;
    for (const ChainStatus& s : chains) {
        done += s.steps, divergences += s.divergences.value_or(0);
        can_diverge = can_diverge || s.divergences;
        finished += s.steps >= total;
        warm += s.steps < total && s.warmup;
    }
    const std::int64_t all = std::ssize(chains) * total;
    return std::to_string(all > 0 ? 100 * done / all : 100) + " % of " + std::to_string(chains.size()) +
           " chains: " + std::to_string(warm) + " in the warm-up, " +
           std::to_string(std::ssize(chains) - warm - finished) + " sampling, " + std::to_string(finished) + " done" +
           (can_diverge ? ", " + std::to_string(divergences) + " div" : "");
}

RunProgress::RunProgress(Show show, std::vector<std::int64_t> first, std::int64_t total, std::int64_t number)
    : show_(show),
      total_(total),
      number_(number),
      first_(std::move(first)),
      chains_(first_.size()),
      start_(seconds_now()),
      last_(start_) {
    if (show == Show::automatic) show_ = isatty(STDERR_FILENO) ? Show::bar : Show::lines;
    for (std::size_t c = 0; c < chains_.size(); ++c) chains_[c].steps = first_[c];
}

RunProgress::~RunProgress() {
    if (show_ == Show::bar && shown_) draw();
}

std::string RunProgress::time_left(std::int64_t done, std::int64_t first, std::int64_t total) const {
    const double gone = seconds_now() - start_;
    if (done <= first || done >= total || gone < 1) return "";
    return "  " + duration_text(gone * static_cast<double>(total - done) / static_cast<double>(done - first)) + " left";
}

void RunProgress::update(std::size_t chain, const ChainStatus& status) {
    const std::unique_lock lock(mutex_);
    chains_[chain] = status;
    if (show_ == Show::nothing) return;
    const double now = seconds_now();
    if (show_ == Show::bar) {
        if (now - last_ < terminal_pause) return;
        draw();
        last_ = now;
        return;
    }
    const auto all = static_cast<std::int64_t>(chains_.size()) * total_;
    std::int64_t done = 0;
    for (const ChainStatus& s : chains_) done += s.steps;
    if (now - last_ < line_pause || done < next_line_) return;
    const std::int64_t first = std::accumulate(first_.begin(), first_.end(), std::int64_t{0});
    std::fflush(stdout);
    std::string text = std::to_string(100 * done / std::max<std::int64_t>(all, 1)) + " % of " +
                       std::to_string(chains_.size()) + " chains; chain " +
                       std::to_string(number_ + static_cast<std::int64_t>(chain)) + ": " +
                       status_text(status, total_, time_left(done, first, all), false);
    std::fprintf(stderr, "%s\n", text.c_str());
    const std::int64_t every = std::max<std::int64_t>(1, (all + lines - 1) / lines);
    next_line_ = (done / every + 1) * every;
    last_ = now;
}

ChainStatus RunProgress::status(std::size_t chain) {
    const std::unique_lock lock(mutex_);
    return chains_[chain];
}

void RunProgress::draw() {
    constexpr std::int64_t cells = 6;
    std::fflush(stdout);
    const auto [width, rows] = terminal_size();
    if (!shown_) one_line_ = chains_.size() > rows;
    std::string text = shown_ ? "\x1b[" + std::to_string(one_line_ ? 1 : chains_.size()) + "A" : "";
    if (one_line_) text += "\r" + all_text(chains_, total_).substr(0, width) + "\x1b[K\n";
    for (std::size_t c = 0; c < (one_line_ ? 0 : chains_.size()); ++c) {
        const ChainStatus& s = chains_[c];
        const auto full = static_cast<std::size_t>(total_ > 0 ? cells * std::min(s.steps, total_) / total_ : cells);
        std::string line = "chain " + std::to_string(number_ + static_cast<std::int64_t>(c)) + " [" +
                           std::string(full, '#') + std::string(cells - full, ' ') + "] " +
                           status_text(s, total_, time_left(s.steps, first_[c], total_), true);
        if (line.size() > width) line.resize(width);
        text += "\r" + line + "\x1b[K\n";
    }
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
    shown_ = true;
}

void RunProgress::say(const std::string& text) {
    if (show_ == Show::nothing) return;
    const std::unique_lock lock(mutex_);
    if (show_ == Show::bar && shown_) draw();
    shown_ = false;
    std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace pollen::detail
