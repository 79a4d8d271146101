#include <pollen/autograd/support/progress.hpp>

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace pollen {

namespace {

constexpr std::int64_t lines = 20;  // in a log

// A line that does not fit the terminal would not be written over.
std::size_t terminal_width() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - std::size_t{1} : 79;
}
constexpr double line_pause = 2, bar_pause = 0.1;  // seconds

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

std::string duration_text(double seconds) {
    const auto s = static_cast<long long>(std::llround(std::clamp(seconds, 0.0, 1e15)));
    if (s < 60) return std::to_string(s) + " s";
    if (s < 3600) return std::to_string(s / 60) + " min " + std::to_string(s % 60) + " s";
    return std::to_string(s / 3600) + " h " + std::to_string(s % 3600 / 60) + " min";
}

Progress::Progress(Show show, std::int64_t total, std::int64_t done)
    : show_(show), total_(total), first_(done), start_(now()), last_(start_ - 3600) {
    if (show == Show::automatic) show_ = isatty(STDERR_FILENO) ? Show::bar : Show::lines;
}

Progress::~Progress() {
    if (show_ == Show::bar && width_ > 0) std::fputc('\n', stderr);
}

bool Progress::due(std::int64_t done) const {
    if (show_ == Show::nothing) return false;
    if (done >= total_) return true;
    if (show_ == Show::bar) return now() - last_ >= bar_pause;
    return done >= next_line_ && now() - last_ >= line_pause;
}

std::string Progress::time_left(std::int64_t done) const {
    if (done <= first_ || done >= total_) return "";
    const double gone = now() - start_;
    if (gone < 1) return "";  // too early to tell
    return "  " + duration_text(gone * static_cast<double>(total_ - done) / static_cast<double>(done - first_)) +
           " left";
}

void Progress::update(std::int64_t done, const std::string& text) {
    if (!due(done)) return;
    std::fflush(stdout);  // what was said before comes first, also in a log that takes both
    if (show_ == Show::lines) {
        std::fprintf(stderr, "%s%s\n", text.c_str(), time_left(done).c_str());
        const std::int64_t every = std::max<std::int64_t>(1, (total_ + lines - 1) / lines);
        next_line_ = (done / every + 1) * every;
        last_ = now();
        return;
    }
    constexpr std::int64_t cells = 12;
    const auto full = static_cast<std::size_t>(total_ > 0 ? cells * std::min(done, total_) / total_ : cells);
    std::string line = "[" + std::string(full, '#') + std::string(cells - full, ' ') + "] " + text + time_left(done);
    if (const std::size_t width = terminal_width(); line.size() > width) line.resize(width);
    std::fprintf(stderr, "\r%s%s", line.c_str(),
                 std::string(width_ > line.size() ? width_ - line.size() : 0, ' ').c_str());
    std::fflush(stderr);
    width_ = line.size();
    last_ = now();
}

void Progress::say(const std::string& text) {
    if (show_ == Show::nothing) return;
    if (show_ == Show::bar && width_ > 0) {
        std::fprintf(stderr, "\r%s\r", std::string(width_, ' ').c_str());
        width_ = 0;
    }
    std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace pollen
