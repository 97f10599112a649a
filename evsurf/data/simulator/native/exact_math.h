// Logarithm and random numbers that give the same bits on every x86-64 machine, whatever it can do: a C
// library chooses among variants at run time, and their last bits differ.
#pragma once

#include <cstdint>
#include <cstring>

namespace evsurf {

inline int64_t bits_of(double x) {
    int64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline double double_of(int64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// A number as m * 2^e, with m from sqrt(1/2) to sqrt(2). Free of branches, so that a compiler can take
// several at once.
struct Parts {
    double m, e;

    explicit Parts(double x) {
        const int64_t bits = bits_of(x), up = bits - 0x3fe6a09e667f3bcdll;
        // An arithmetic shift, made of a logical one, which every instruction set has for vectors.
        const int64_t exponent = int64_t(uint64_t(up + (int64_t{1024} << 52)) >> 52) - 1024;
        m = double_of(bits - (exponent << 52));
        e = double_of(exponent + 0x4338000000000000ll) - 6755399441055744.0;
    }
};

// Natural logarithm of a normal positive number, to about the last bit.
inline double exact_log(double x) {
    const Parts parts(x);
    const double s = (parts.m - 1.0) / (parts.m + 1.0), q = s * s;
    double sum = 1.0 / 21;
    sum = sum * q + 1.0 / 19;
    sum = sum * q + 1.0 / 17;
    sum = sum * q + 1.0 / 15;
    sum = sum * q + 1.0 / 13;
    sum = sum * q + 1.0 / 11;
    sum = sum * q + 1.0 / 9;
    sum = sum * q + 1.0 / 7;
    sum = sum * q + 1.0 / 5;
    sum = sum * q + 1.0 / 3;
    return parts.e * 0.6931471805599453 + (2.0 * s + 2.0 * s * q * sum);
}

// Logarithm to base 2, to a few millionths.
inline double near_log2(double x) {
    const Parts parts(x);
    const double s = (parts.m - 1.0) / (parts.m + 1.0), q = s * s;
    return parts.e + s * (2.885390081777927 + q * (0.961796693925976 + q * 0.577078016355585));
}

inline uint64_t scrambled(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

// The number `index` of a stream of uniform numbers below 1: any one is had without those before it.
struct Uniform {
    uint64_t key;

    Uniform(uint64_t seed, uint64_t stream)
        : key(scrambled(scrambled(seed + 0x9e3779b97f4a7c15ull) + stream * 0xd1342543de82ef95ull)) {}
    double operator()(uint64_t index) const {
        return double(scrambled(key + index * 0x9e3779b97f4a7c15ull) >> 11) * 0x1p-53;
    }
    // Nearly normal, of mean 0 and variance 1 and never beyond 6: the sum of twelve.
    double normal(uint64_t index) const {
        double sum = -6.0;
        for (uint64_t k = 0; k < 12; ++k) sum += (*this)(index * 12 + k);
        return sum;
    }
};

}  // namespace evsurf
