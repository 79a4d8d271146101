// Multiplies matrices by pollen, and by a BLAS of its own if it has one; prints a fingerprint of pollen's bits.
#include <pollen/pollen.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

using namespace pollen;

#if defined(WITH_BLAS)
// As in cblas.h: 101 is row-major, 111 is not transposed.
extern "C" void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*,
                            int);
extern "C" void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int, double,
                            double*, int);

void product(int m, int n, int k, const float* a, const float* b, float* c) {
    cblas_sgemm(101, 111, 111, m, n, k, 1, a, k, b, n, 0, c, n);
}
void product(int m, int n, int k, const double* a, const double* b, double* c) {
    cblas_dgemm(101, 111, 111, m, n, k, 1, a, k, b, n, 0, c, n);
}
#endif

// FNV-1a
std::uint64_t fingerprint = 0xcbf29ce484222325u;

template <class T>
bool check(std::int64_t m, std::int64_t k, std::int64_t n) {
    Random random(7);
    Tensor<T> a = Tensor<T>::zeros({m, k}), b = Tensor<T>::zeros({k, n});
    for (T& x : a.mutable_values()) x = random.normal<T>();
    for (T& x : b.mutable_values()) x = random.normal<T>();
    Tape<T> tape;
    const Tensor<T> c = matmul(tape.variable(a), tape.variable(b)).value();
    for (const T& x : c.values()) {
        unsigned char bytes[sizeof(T)];
        std::memcpy(bytes, &x, sizeof(T));
        for (const unsigned char byte : bytes) fingerprint = (fingerprint ^ byte) * 0x100000001b3u;
    }
#if defined(WITH_BLAS)
    Tensor<T> d = Tensor<T>::zeros({m, n});
    product(static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), a.data(), b.data(),
            d.mutable_values().data());
    for (std::int64_t i = 0; i < m * n; ++i)
        if (!(std::abs(c.data()[i] - d.data()[i]) < T(1e-3))) return false;
#endif
    return true;
}

int main() {
    bool good = true;
    for (const std::int64_t n : {1, 7, 64, 300}) good = check<float>(n, 100, n) && check<double>(n, 100, n) && good;
    std::printf("%016llx\n", static_cast<unsigned long long>(fingerprint));
    return good ? 0 : 1;
}
