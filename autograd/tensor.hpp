#pragma once

#include <pollen/autograd/pool.hpp>
#include <pollen/autograd/shape.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pollen {

// The number types that can be differentiated.
template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;

// A block of numbers with a shape, contiguous and row-major, in a pooled 64-byte-aligned buffer.
//
// A tensor is a value: copies share one buffer until one of them is written to, and then that one gets its own. It is
// defined for float, double and, to hold labels and indices, std::int32_t.
template <class T>
class Tensor {
  public:
    // An empty tensor of shape (0).
    Tensor() : shape_(Shape::nothing()) {}

    // Lists are always data: Tensor<float>{1, 2, 3} has shape (3), Tensor<float>{{1, 2}, {3, 4}} has shape (2, 2).
    Tensor(std::initializer_list<T> values);
    Tensor(std::initializer_list<std::initializer_list<T>> rows);

    // Numbers in row-major order, copied.
    Tensor(const Shape& shape, std::span<const T> values);
    Tensor(const Shape& shape, const std::vector<T>& values) : Tensor(shape, std::span<const T>(values)) {}

    static Tensor zeros(const Shape& shape) { return full(shape, T(0)); }
    static Tensor ones(const Shape& shape) { return full(shape, T(1)); }
    static Tensor full(const Shape& shape, T value);
    static Tensor scalar(T value) { return full(Shape{}, value); }
    static Tensor arange(std::int64_t n);                     // 0, 1, ..., n - 1
    static Tensor linspace(T first, T last, std::int64_t n);  // n evenly spaced numbers, both ends included
    static Tensor eye(std::int64_t n);                        // the identity matrix
    static Tensor empty(const Shape& shape, Pool& pool = Pool::global());  // contents unspecified

    // A tensor over somebody else's memory, which must live longer. Copies of it own theirs.
    static Tensor borrow(const T* data, const Shape& shape) { return Tensor(data, nullptr, shape); }

    Tensor(const Tensor& other) : Tensor(other.data_, other.owner_, other.shape_) {
        if (owner_)
            owner_->owners.fetch_add(1, std::memory_order_relaxed);
        else if (data_)
            own();
    }
    Tensor(Tensor&& other) noexcept : Tensor(other.data_, other.owner_, other.shape_) { other.forget(); }
    Tensor& operator=(const Tensor& other) { return *this = Tensor(other); }
    Tensor& operator=(Tensor&& other) noexcept {
        if (this == &other) return *this;
        if (owner_) release(owner_);
        data_ = other.data_;
        owner_ = other.owner_;
        shape_ = other.shape_;
        other.forget();
        return *this;
    }
    ~Tensor() {
        if (owner_) release(owner_);
    }
    friend void swap(Tensor& a, Tensor& b) noexcept {
        std::swap(a.data_, b.data_);
        std::swap(a.owner_, b.owner_);
        std::swap(a.shape_, b.shape_);
    }

    const Shape& shape() const { return shape_; }
    int rank() const { return shape_.rank(); }
    std::int64_t size() const { return shape_.size(); }

    const T* data() const { return data_; }
    std::span<const T> values() const { return {data_, static_cast<std::size_t>(size())}; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size(); }

    // For writing: makes sure first that no other tensor shares the numbers. Nothing else writes, so threads may read
    // one tensor at the same time, const or not.
    T* mutable_data() {
        if (!owner_ || !owner_->unique()) own();
        return const_cast<T*>(data_);
    }
    std::span<T> mutable_values() { return {mutable_data(), static_cast<std::size_t>(size())}; }

    // x(i, j, k), checked; negative indices are errors, not counted from the back.
    template <std::integral... Index>
    T operator()(Index... index) const {
        return data_[offset({static_cast<std::int64_t>(index)...})];
    }
    // The same number, for writing: x.mutable_at(i, j, k) = 1.
    template <std::integral... Index>
    T& mutable_at(Index... index) {
        const std::int64_t at = offset({static_cast<std::int64_t>(index)...});
        return mutable_data()[at];
    }

    // The number in a tensor of one element.
    T item() const;

    // The same numbers in another shape of the same size; one size may be -1, meaning what is left. Shares the buffer.
    Tensor reshaped(std::initializer_list<std::int64_t> sizes) const;
    Tensor reshaped(const Shape& shape) const;

    // Numbers first, first + 1, ... in this shape. Shares the buffer, if the tensor owns it.
    Tensor slice(std::int64_t first, const Shape& shape) const;

    // The same shape and the same numbers; as for numbers, NaN equals nothing.
    bool operator==(const Tensor& other) const;

    // True if the tensor owns its memory, alone or with others, or is empty.
    bool owns() const { return owner_ || !data_; }
    // True if another tensor has the same buffer.
    bool shared() const { return owner_ && !owner_->unique(); }

    // The buffer, given up without being released: how a tape hands buffers straight back to its pool.
    Buffer* take_buffer() {
        Buffer* buffer = owner_;
        forget();
        return buffer;
    }

    // For code that has just made the tensor with empty() and is its only owner.
    T* fresh_data() { return const_cast<T*>(data_); }

    // A tensor on a buffer that it now owns.
    static Tensor adopt(Buffer* buffer, const Shape& shape) {
        return Tensor(static_cast<const T*>(buffer->data()), buffer, shape);
    }

  private:
    Tensor(const T* data, Buffer* owner, const Shape& shape) : data_(data), owner_(owner), shape_(shape) {}
    void own();
    void forget() {
        data_ = nullptr;
        owner_ = nullptr;
        shape_ = Shape::nothing();
    }
    std::int64_t offset(std::initializer_list<std::int64_t> index) const;

    const T* data_ = nullptr;
    Buffer* owner_ = nullptr;
    Shape shape_;
};

// Labels and indices.
using Indices = Tensor<std::int32_t>;

// NumPy's form, [[1, 2], [3, 4]]; long axes show their first and last three entries.
template <class T>
std::string to_string(const Tensor<T>& tensor);
template <class T>
std::ostream& operator<<(std::ostream& out, const Tensor<T>& tensor);

// |a - b| <= atol + rtol |b| everywhere, shapes equal; equal infinities are close, NaN is close to nothing.
template <Real T>
bool allclose(const Tensor<T>& a, const Tensor<T>& b, T rtol, T atol);

// The numbers in the other type. Integers are rounded towards 0. Throws a ValueError if an integer cannot hold a
// number.
template <class To, class From>
Tensor<To> cast(const Tensor<From>& tensor);

extern template class Tensor<float>;
extern template class Tensor<double>;
extern template class Tensor<std::int32_t>;

}  // namespace pollen
