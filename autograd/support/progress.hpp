#pragma once

#include <cstdint>
#include <string>

namespace pollen {

enum class Show {
    automatic,  // a bar on a terminal, lines otherwise
    bar,
    lines,
    nothing,
};

// How far a long piece of work is, on the standard error output: one line that is written over and over on a terminal,
// at most some twenty plain lines in a log.
class Progress {
  public:
    Progress(Show show, std::int64_t total, std::int64_t done = 0);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // `text` says what there is to say at this point: "epoch 3/20  loss 0.123". Cheap enough for every step: whether
    // anything would be written is asked first.
    bool due(std::int64_t done) const;
    void update(std::int64_t done, const std::string& text);

    // A line that stays, on a terminal and in a log.
    void say(const std::string& text);

  private:
    std::string time_left(std::int64_t done) const;

    Show show_;
    std::int64_t total_, first_;
    double start_, last_;  // in seconds of a steady clock
    std::int64_t next_line_ = 0;
    std::size_t width_ = 0;  // of what stands on the terminal's line
};

// "45 s", "12 min 30 s", "3 h 20 min"
std::string duration_text(double seconds);

}  // namespace pollen
