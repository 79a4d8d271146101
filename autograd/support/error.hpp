#pragma once

#include <stdexcept>
#include <string>

namespace pollen {

// Everything pollen throws derives from Error, so one catch clause is enough for an embedding program. A message is one
// line that is safe to print: control characters, which a name in a file or the name of a file may have, are shown as
// \n or \x1b.
class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& message);
};

// Arguments whose shapes, axes or indices do not fit together.
class ShapeError : public Error {
  public:
    using Error::Error;
};

// A handle used after its tape was cleared, tapes mixed, backward() called on something it cannot start from.
class TapeError : public Error {
  public:
    using Error::Error;
};

// An argument whose value, rather than its shape, is wrong: a negative stride, a batch of no items.
class ValueError : public Error {
  public:
    using Error::Error;
};

// A value that may come from the parameters of a model, outside of what a function is defined for: a standard deviation
// of 0, a matrix without a Cholesky factor. A sampler takes such a point for one of density 0.
class DomainError : public ValueError {
  public:
    using ValueError::ValueError;
};

// The system refused the memory for a tensor, a file or a table. The message says how much it was.
class MemoryError : public Error {
  public:
    using Error::Error;
};

}  // namespace pollen
