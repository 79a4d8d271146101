#pragma once

namespace pollen {

// While one of these lives, Ctrl-C (and a request to terminate) does not end the program but makes requested() true, so
// that a long run can stop at a good place and keep what it has. A second Ctrl-C ends the program as usual.
class Interrupt {
  public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    static bool requested();
};

}  // namespace pollen
