#pragma once

#include <cstdint>
#include <cstring>

namespace pollen::kernels {

// A square of `side` numbers each way, transposed in registers.
template <class T>
struct TransposeSquare;

template <>
struct TransposeSquare<float> {
    static constexpr std::int64_t side = 8;
    using Row __attribute__((vector_size(32))) = float;

    // s[i][j] = from[j][i] for eight rows.
    static void transpose(const float* const (&from)[8], Row (&s)[8]) {
        Row r[8];
        for (int k = 0; k < 8; ++k) std::memcpy(&r[k], from[k], sizeof(Row));
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
    }
};

template <>
struct TransposeSquare<double> {
    static constexpr std::int64_t side = 4;
    using Row __attribute__((vector_size(32))) = double;

    static void transpose(const double* const (&from)[4], Row (&r)[4]) {
        Row s[4];
        for (int k = 0; k < 4; ++k) std::memcpy(&r[k], from[k], sizeof(Row));
        for (int k = 0; k < 4; k += 2) {
            s[k] = __builtin_shufflevector(r[k], r[k + 1], 0, 4, 2, 6);
            s[k + 1] = __builtin_shufflevector(r[k], r[k + 1], 1, 5, 3, 7);
        }
        for (int k = 0; k < 2; ++k) {
            r[k] = __builtin_shufflevector(s[k], s[k + 2], 0, 1, 4, 5);
            r[k + 2] = __builtin_shufflevector(s[k], s[k + 2], 2, 3, 6, 7);
        }
    }
};

// to[i * to_stride + j] = or += from[j * from_stride + i] for i < rows, j < columns.
template <class T, bool add>
void transpose_tile(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride, std::int64_t rows,
                    std::int64_t columns) {
    using Square = TransposeSquare<T>;
    constexpr std::int64_t side = Square::side;
    const std::int64_t whole_rows = rows / side * side, whole_columns = columns / side * side;
    for (std::int64_t i = 0; i < whole_rows; i += side) {
        for (std::int64_t j = 0; j < whole_columns; j += side) {
            const T* rows_of[side];
            typename Square::Row square[side], sum;
            for (std::int64_t k = 0; k < side; ++k) rows_of[k] = from + (j + k) * from_stride + i;
            Square::transpose(rows_of, square);
            for (std::int64_t k = 0; k < side; ++k) {
                T* target = to + (i + k) * to_stride + j;
                if constexpr (add) {
                    std::memcpy(&sum, target, sizeof sum);
                    square[k] += sum;
                }
                std::memcpy(target, &square[k], sizeof sum);
            }
        }
    }
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j) {
            T& target = to[i * to_stride + j];
            target = add ? target + from[j * from_stride + i] : from[j * from_stride + i];
        }
    }
}

}  // namespace pollen::kernels
