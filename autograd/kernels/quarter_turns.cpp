#include <pollen/autograd/kernels/quarter_turns.hpp>

#include <bit>
#include <cmath>

namespace pollen::kernels {

namespace {

__extension__ using Wide = unsigned __int128;

// 64 zeros, then the bits of 2/pi after the binary point.
constexpr std::uint64_t two_over_pi[] = {0,
                                         0xa2f9836e4e441529,
                                         0xfc2757d1f534ddc0,
                                         0xdb6295993c439041,
                                         0xfe5163abdebbc561,
                                         0xb7246e3a424dd2e0,
                                         0x06492eea09d1921c,
                                         0xfe1deb1cb129a73e,
                                         0xe88235f52ebb4484,
                                         0xe99c7026b45f7e41,
                                         0x3991d639835339f4,
                                         0x9c845f8bbdf9283b,
                                         0x1ff897ffde05980f,
                                         0xef2f118b5a0a6d1f,
                                         0x6d367ecf27cb09b7,
                                         0x4f463f669e5fea2d,
                                         0x7527bac7ebe5f17b,
                                         0x3d0739f78a5292ea,
                                         0x6bfb5fb11f8d5d08,
                                         0x56033046fc7b6bab,
                                         0xf0cfbc209af4361d};
constexpr std::uint64_t half_pi = 0xc90fdaa22168c235;  // times 2^-63

}  // namespace

// With a = m 2^e and m a whole number, a 2/pi modulo 4 needs only those bits of 2/pi that have a place value below 4
// once they are multiplied by 2^e. 192 of them are taken. The rest changes the result by less than 2^-136. No double
// is nearer to a multiple of pi/2 than 2^-61, so r has more than 60 correct bits.
QuarterTurns quarter_turns(double a) {
    const auto bits = std::bit_cast<std::uint64_t>(a);
    const std::uint64_t m = (bits & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1} << 52);
    const int e = static_cast<int>(bits >> 52) - 1075;
    const auto first = static_cast<unsigned>(e + 62), shift = first % 64;
    const std::uint64_t* from = two_over_pi + first / 64;
    const auto word = [&](int i) { return shift == 0 ? from[i] : from[i] << shift | from[i + 1] >> (64 - shift); };

    // m times the 192 bits, modulo 2^192, without its last 64 bits: the first two bits are k, the others a fraction.
    const Wide low = Wide{m} * word(2), middle = Wide{m} * word(1) + (low >> 64);
    const Wide product = (Wide{m} * word(0) << 64) + middle;
    const auto k = static_cast<std::uint64_t>(product >> 126), up = static_cast<std::uint64_t>(product >> 125) & 1;

    // The distance from the nearest quarter, as a whole number times 2^-128, then its first 64 bits times pi/2.
    const Wide fraction = up ? -(product << 2) : product << 2;
    const auto high = static_cast<std::uint64_t>(fraction >> 64);
    const int zeros = high ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(fraction));
    const auto top = static_cast<std::uint64_t>((fraction << zeros) >> 64);
    const auto r = static_cast<std::uint64_t>(Wide{top} * half_pi >> 64);
    const double size = std::ldexp(static_cast<double>(r), -63 - zeros);
    return {up ? -size : size, (k + up) & 3};
}

}  // namespace pollen::kernels
