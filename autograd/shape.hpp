#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>

namespace pollen {

inline constexpr int max_rank = 6;

// The sizes of a tensor's axes, checked once when it is made: no size is negative, and the bytes of such a tensor can
// be counted in 63 bits. A shape without axes, (), holds one number.
class Shape {
  public:
    constexpr Shape() = default;
    Shape(std::initializer_list<std::int64_t> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
    explicit Shape(std::span<const std::int64_t> sizes);

    int rank() const { return static_cast<int>(rank_); }
    std::int64_t size() const { return size_; }
    std::int64_t operator[](int axis) const { return sizes_[static_cast<std::size_t>(axis)]; }
    std::span<const std::int64_t> sizes() const { return {sizes_.data(), static_cast<std::size_t>(rank_)}; }

    bool operator==(const Shape& other) const {
        if (rank_ != other.rank_ || size_ != other.size_) return false;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank_); ++axis) {
            if (sizes_[axis] != other.sizes_[axis]) return false;
        }
        return true;
    }

    // (0), the shape of a tensor that holds nothing.
    static constexpr Shape nothing() {
        Shape shape;
        shape.size_ = 0;
        shape.rank_ = 1;
        return shape;
    }

  private:
    // 64 bytes without padding, copied as a whole. If a member were written by itself, a copy right after it would wait
    // until the write has reached the cache.
    std::array<std::int64_t, max_rank> sizes_{};
    std::int64_t size_ = 1;
    std::int64_t rank_ = 0;
};

// (), (3), (2, 3)
std::string to_string(const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Shape& shape);

// NumPy's rule, for every op that takes two tensors: shapes are aligned at their last axes, missing axes count as 1,
// and an axis of 1 is repeated to the other's size. Throws `op: shapes (2, 3) and (4, 3) do not broadcast: axis 0 is 2
// and 4; sizes must be equal or 1`.
Shape broadcast(const char* op, const Shape& a, const Shape& b);

// Whether `from` broadcasts to exactly `to`.
bool broadcasts_to(const Shape& from, const Shape& to);

// An axis counted from the front, where -1 is the last one. Throws if there is no such axis.
int normalize_axis(const char* op, int axis, int rank);

// The axes an op works over: all of them, one, or a list. Negative ones count from the back.
class Axes {
  public:
    Axes() = default;
    Axes(int axis) : Axes({axis}) {}
    Axes(std::initializer_list<int> axes);

    // Whether no axis was named, which means all of them.
    bool all() const { return count_ < 0; }

    // Bit k is set where axis k is meant. Throws for an axis out of range or named twice.
    unsigned mask(const char* op, int rank) const;

  private:
    std::array<int, max_rank> axes_{};
    int count_ = -1;
};

// The shape left when the axes of `mask` are reduced: dropped, or kept with size 1.
Shape reduced_shape(const Shape& shape, unsigned mask, bool keepdims);

// The shape that `sizes` means for a tensor of shape `from`: at most one size may be -1 and stands for what is left.
Shape resolve_reshape(const char* op, const Shape& from, std::span<const std::int64_t> sizes);

}  // namespace pollen
