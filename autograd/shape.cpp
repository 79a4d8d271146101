#include <pollen/autograd/shape.hpp>

#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <ostream>

namespace pollen {

namespace {

// 2^59 elements of 16 bytes are the most that a signed 64-bit byte count can hold.
constexpr std::int64_t max_elements = std::int64_t{1} << 59;

std::string list(std::span<const std::int64_t> sizes) {
    std::string text = "(";
    for (std::size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
    return text + ")";
}

// The size of the axis that is `back` places from the end; axes that a shape does not have count as 1.
std::int64_t size_from_back(const Shape& shape, int back) {
    return back < shape.rank() ? shape[shape.rank() - 1 - back] : 1;
}

}  // namespace

Shape::Shape(std::span<const std::int64_t> sizes) {
    if (sizes.size() > max_rank)
        throw ShapeError("shape: " + list(sizes) + " has " + std::to_string(sizes.size()) + " axes; at most " +
                         std::to_string(max_rank) + " are supported");
    bool empty = false;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] < 0)
            throw ShapeError("shape: axis " + std::to_string(i) + " of " + list(sizes) +
                             " is negative; sizes are 0 or more");
        empty = empty || sizes[i] == 0;
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const bool overflow = !empty && __builtin_mul_overflow(size_, sizes[i], &size_);
        if (overflow || size_ > max_elements)
            throw ShapeError("shape: " + list(sizes) + " has too many elements; at most 2^59 are supported");
        sizes_[i] = sizes[i];
    }
    if (empty) size_ = 0;
    rank_ = static_cast<std::int64_t>(sizes.size());
}

std::string to_string(const Shape& shape) { return list(shape.sizes()); }

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

Shape broadcast(const char* op, const Shape& a, const Shape& b) {
    if (a == b) return a;
    const int rank = std::max(a.rank(), b.rank());
    std::array<std::int64_t, max_rank> sizes{};
    for (int axis = 0; axis < rank; ++axis) {
        const std::int64_t m = size_from_back(a, rank - 1 - axis);
        const std::int64_t n = size_from_back(b, rank - 1 - axis);
        if (m != n && m != 1 && n != 1)
            throw ShapeError(std::string(op) + ": shapes " + to_string(a) + " and " + to_string(b) +
                             " do not broadcast: axis " + std::to_string(axis) + " is " + std::to_string(m) + " and " +
                             std::to_string(n) + "; sizes must be equal or 1");
        sizes[static_cast<std::size_t>(axis)] = m == 1 ? n : m;
    }
    return Shape(std::span<const std::int64_t>(sizes.data(), static_cast<std::size_t>(rank)));
}

bool broadcasts_to(const Shape& from, const Shape& to) {
    if (from.rank() > to.rank()) return false;
    for (int back = 0; back < to.rank(); ++back) {
        const std::int64_t n = size_from_back(from, back);
        if (n != 1 && n != size_from_back(to, back)) return false;
    }
    return true;
}

int normalize_axis(const char* op, int axis, int rank) {
    if (axis < -rank || axis >= rank) {
        std::string range = rank == 0 ? "a scalar has no axes"
                                      : "a tensor of rank " + std::to_string(rank) + " has axes " +
                                            std::to_string(-rank) + " to " + std::to_string(rank - 1);
        throw ShapeError(std::string(op) + ": axis " + std::to_string(axis) + " is out of range; " + range);
    }
    return axis < 0 ? axis + rank : axis;
}

Axes::Axes(std::initializer_list<int> axes) : count_(static_cast<int>(axes.size())) {
    if (axes.size() > max_rank)
        throw ShapeError("axes: " + std::to_string(axes.size()) + " axes given; at most " + std::to_string(max_rank) +
                         " are supported");
    std::copy(axes.begin(), axes.end(), axes_.begin());
}

unsigned Axes::mask(const char* op, int rank) const {
    if (count_ < 0) return (1u << rank) - 1u;
    unsigned mask = 0;
    for (int i = 0; i < count_; ++i) {
        const int axis = normalize_axis(op, axes_[static_cast<std::size_t>(i)], rank);
        if (mask & (1u << axis))
            throw ShapeError(std::string(op) + ": axis " + std::to_string(axis) + " is named twice");
        mask |= 1u << axis;
    }
    return mask;
}

Shape reduced_shape(const Shape& shape, unsigned mask, bool keepdims) {
    std::array<std::int64_t, max_rank> sizes{};
    std::size_t rank = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        const bool reduced = (mask >> axis) & 1u;
        if (!reduced || keepdims) sizes[rank++] = reduced ? 1 : shape[axis];
    }
    return Shape(std::span<const std::int64_t>(sizes.data(), rank));
}

Shape resolve_reshape(const char* op, const Shape& from, std::span<const std::int64_t> sizes) {
    const auto fail = [&](const std::string& what) {
        throw ShapeError(std::string(op) + ": " + to_string(from) + " to " + list(sizes) + ": " + what);
    };
    if (sizes.size() > max_rank) fail("at most " + std::to_string(max_rank) + " axes are supported");
    std::array<std::int64_t, max_rank> resolved{};
    std::copy(sizes.begin(), sizes.end(), resolved.begin());
    const auto open = std::find(sizes.begin(), sizes.end(), -1);
    if (open != sizes.end()) {
        if (std::find(open + 1, sizes.end(), -1) != sizes.end()) fail("only one size may be -1");
        resolved[static_cast<std::size_t>(open - sizes.begin())] = 1;
        const std::int64_t known = Shape(std::span<const std::int64_t>(resolved.data(), sizes.size())).size();
        if (known == 0 || from.size() % known != 0)
            fail(std::to_string(from.size()) + " elements cannot be cut into parts of " + std::to_string(known));
        resolved[static_cast<std::size_t>(open - sizes.begin())] = from.size() / known;
    }
    const Shape shape(std::span<const std::int64_t>(resolved.data(), sizes.size()));
    if (shape.size() != from.size())
        fail(std::to_string(from.size()) + " elements do not fill " + std::to_string(shape.size()));
    return shape;
}

}  // namespace pollen
