// SPDX-License-Identifier: Apache-2.0
// FixedTransform: the Fourier transform of real samples in fixed point of 15 or 31 bits, by radix 4
// and 2, bit for bit as kernels of microcontrollers compute it.
#pragma once

#include "compiler/frontend/import/formula.h"

#include <utility>

namespace tenon::compiler {

/// Every step halves or quarters what it adds, and wraps around where that is not enough.
class FixedTransform
{
public:
    enum class Direction : uint8_t
    {
        Forward,
        Inverse
    };

    /// Of `length` real samples, a power of two from 8 on; `dtype` is int16 or int32.
    FixedTransform(NodeImport& node, int64_t length, DataType dtype, Direction direction);

    /// [batch, length] to [batch, length / 2 + 1, 2], real and imaginary parts.
    ValueRef spectrum(ValueRef samples);
    /// The way back.
    ValueRef samples(ValueRef spectrum);

private:
    /// Parts in an integer of twice the bits.
    struct Complex
    {
        ValueRef re, im;
    };

    std::vector<int64_t> order() const;
    Complex transformed(Complex z);
    Complex byTwo(const Complex& z, int64_t length);
    Complex byFour(const Complex& z, int64_t length);
    std::vector<Complex> legs(const Complex& z, int64_t radix, int64_t length);
    Complex joined(const std::vector<Complex>& parts);
    /// The even and odd halves of a spectrum, of bins 1 to the middle.
    std::pair<Complex, Complex> halves(const Complex& low, const Complex& high);
    ValueRef ofReal(const Complex& z);

    ValueRef constants(const std::vector<int64_t>& values, const Formula::Axes& shape);
    ValueRef wrapped(ValueRef value);
    ValueRef shifted(ValueRef value, int64_t bits);
    ValueRef rounded(ValueRef product);
    ValueRef share(ValueRef value, int64_t of);
    Complex wrapped(const Complex& z);
    Complex share(const Complex& z, int64_t of);
    Complex sum(const Complex& a, const Complex& b);
    Complex difference(const Complex& a, const Complex& b);
    Complex turned(const Complex& z, const std::vector<double>& phases, const Formula::Axes& shape);
    Complex part(const Complex& z, int64_t axis, int64_t begin, int64_t end);
    Complex reversed(const Complex& z);
    Complex reshaped(const Complex& z, const Formula::Axes& shape);
    Complex conjugate(const Complex& z);

    Formula f;
    int64_t m_half, m_batch = 1;
    DataType m_narrow, m_wide;
    int64_t m_bits;                 ///< behind the point
    double m_sign;                  ///< of the phases
    std::vector<int64_t> m_radices; ///< from the outermost on
};

} // namespace tenon::compiler
