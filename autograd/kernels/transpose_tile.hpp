#pragma once

#include <cstdint>
#include <cstring>

namespace pollen::kernels {

// to[i * to_stride + j] = or += from[j * from_stride + i] for a square of `side` numbers each way, in registers.
template <class T, bool add>
struct TransposeSquare;

template <bool add>
struct TransposeSquare<float, add> {
    static constexpr std::int64_t side = 8;
    typedef float Row __attribute__((vector_size(32)));

    static void run(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride) {
        Row r[8], s[8];
        for (int k = 0; k < 8; ++k) std::memcpy(&r[k], from + k * from_stride, sizeof(Row));
        // Numbers and pairs of them within halves of a row first, whole halves last: few instructions cross halves.
        for (int k = 0; k < 8; k += 2) {
            s[k] = __builtin_shufflevector(r[k], r[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
            s[k + 1] = __builtin_shufflevector(r[k], r[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
        }
        for (int k = 0; k < 8; k += 4) {
            r[k] = __builtin_shufflevector(s[k], s[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            r[k + 1] = __builtin_shufflevector(s[k], s[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
            r[k + 2] = __builtin_shufflevector(s[k + 1], s[k + 3], 0, 1, 8, 9, 4, 5, 12, 13);
            r[k + 3] = __builtin_shufflevector(s[k + 1], s[k + 3], 2, 3, 10, 11, 6, 7, 14, 15);
        }
        for (int k = 0; k < 4; ++k) {
            s[k] = __builtin_shufflevector(r[k], r[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
            s[k + 4] = __builtin_shufflevector(r[k], r[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        }
        for (int k = 0; k < 8; ++k) {
            if constexpr (add) {
                std::memcpy(&r[k], to + k * to_stride, sizeof(Row));
                s[k] += r[k];
            }
            std::memcpy(to + k * to_stride, &s[k], sizeof(Row));
        }
    }
};

template <bool add>
struct TransposeSquare<double, add> {
    static constexpr std::int64_t side = 4;
    typedef double Row __attribute__((vector_size(32)));

    static void run(const double* from, std::int64_t from_stride, double* to, std::int64_t to_stride) {
        Row r[4], s[4];
        for (int k = 0; k < 4; ++k) std::memcpy(&r[k], from + k * from_stride, sizeof(Row));
        for (int k = 0; k < 4; k += 2) {
            s[k] = __builtin_shufflevector(r[k], r[k + 1], 0, 4, 2, 6);
            s[k + 1] = __builtin_shufflevector(r[k], r[k + 1], 1, 5, 3, 7);
        }
        for (int k = 0; k < 2; ++k) {
            r[k] = __builtin_shufflevector(s[k], s[k + 2], 0, 1, 4, 5);
            r[k + 2] = __builtin_shufflevector(s[k], s[k + 2], 2, 3, 6, 7);
        }
        for (int k = 0; k < 4; ++k) {
            if constexpr (add) {
                std::memcpy(&s[k], to + k * to_stride, sizeof(Row));
                r[k] += s[k];
            }
            std::memcpy(to + k * to_stride, &r[k], sizeof(Row));
        }
    }
};

// to[i * to_stride + j] = or += from[j * from_stride + i] for i < rows, j < columns.
template <class T, bool add>
void transpose_tile(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride, std::int64_t rows,
                    std::int64_t columns) {
    constexpr std::int64_t side = TransposeSquare<T, add>::side;
    const std::int64_t whole_rows = rows / side * side, whole_columns = columns / side * side;
    for (std::int64_t i = 0; i < whole_rows; i += side) {
        for (std::int64_t j = 0; j < whole_columns; j += side)
            TransposeSquare<T, add>::run(from + j * from_stride + i, from_stride, to + i * to_stride + j, to_stride);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j) {
            T& target = to[i * to_stride + j];
            target = add ? target + from[j * from_stride + i] : from[j * from_stride + i];
        }
    }
}

}  // namespace pollen::kernels
