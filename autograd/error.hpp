#pragma once

#include <stdexcept>
#include <string>

namespace pollen {

// Everything pollen throws derives from Error, so one catch clause is enough for an embedding program.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
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

// An argument whose value, rather than its shape, is wrong: a negative stride, a matrix that has no Cholesky factor.
class ValueError : public Error {
  public:
    using Error::Error;
};

// The system refused the memory for a tensor.
class MemoryError : public Error {
  public:
    using Error::Error;
};

}  // namespace pollen
