// SPDX-License-Identifier: Apache-2.0
// Coordinate transformations of resizing as exact rationals.
#include "compiler/ops/resample.h"

#include "core/ir/tir/simplify.h"

#include <cmath>
#include <numeric>

namespace tenon::compiler {
namespace {

using tir::Expr;

struct Ratio
{
    int64_t over;
    int64_t under;
};

/// Best rational with a denominator below 2^20, by continued fraction.
Ratio rationalOf(double value)
{
    int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
    double rest = value;
    for (int step = 0; step < 32; ++step) {
        const auto whole = static_cast<int64_t>(std::floor(rest));
        const int64_t p2 = whole * p1 + p0, q2 = whole * q1 + q0;
        if (q2 > (int64_t{1} << 20) || p2 > (int64_t{1} << 40)) break;
        p0 = p1;
        q0 = q1;
        p1 = p2;
        q1 = q2;
        const double error = value - static_cast<double>(p1) / static_cast<double>(q1);
        const double fraction = rest - static_cast<double>(whole);
        if (std::abs(error) < 1e-7 * value || fraction < 1e-9) break; // scales are stored as floats
        rest = 1 / fraction;
    }
    return {std::max<int64_t>(1, p1), std::max<int64_t>(1, q1)};
}

/// Input pixels per output pixel.
Ratio stepOf(int64_t input, int64_t output, double scale)
{
    const double plain = static_cast<double>(output) / static_cast<double>(input);
    if (scale <= 0 || std::abs(scale - plain) < 1e-7 * plain) return {input, output};
    const Ratio ratio = rationalOf(scale);
    return {ratio.under, ratio.over};
}

} // namespace

Expr Resample::numerator(const Expr& o) const { return o * Expr(slope) + Expr(offset); }

Expr Resample::floorPixel(const Expr& o) const { return floorDiv(numerator(o), Expr(divisor)); }

Expr Resample::fraction(const Expr& o, DataType dtype) const
{
    const Expr rest = simplify(floorMod(numerator(o), Expr(divisor)));
    return tir::cast(dtype, rest) / tir::floatImm(static_cast<double>(divisor), dtype);
}

Expr Resample::nearestPixel(const Expr& o, std::string_view rounding) const
{
    const Expr n = numerator(o), q(divisor);
    if (rounding == "floor") return floorDiv(n, q);
    if (rounding == "ceil") return floorDiv(n + q - Expr(1), q);
    const Expr half = rounding == "round_prefer_ceil" ? q : q - Expr(1);
    return floorDiv(n * Expr(2) + half, q * Expr(2));
}

Expr Resample::clamped(const Expr& pixel, const Expr& o) const
{
    tir::Ranges ranges;
    if (o->kind == tir::ExprKind::VarRef) ranges[o->var.get()] = {0, output - 1};
    return simplify(minimum(maximum(pixel, Expr(0)), Expr(input - 1)), ranges);
}

bool repeatsPixels(std::string_view mode, std::string_view rounding)
{
    if (mode == "asymmetric" || mode == "tf_half_pixel_for_nn") return rounding == "floor";
    return mode != "align_corners" && mode != "tf_crop_and_resize" && rounding.starts_with("round");
}

Resample makeResample(std::string_view mode, int64_t input, int64_t output, double scale)
{
    const auto [a, b] = stepOf(input, output, scale);
    Resample out{.input = input, .output = output};
    const auto set = [&](int64_t slope, int64_t offset, int64_t divisor) {
        const int64_t common = std::gcd(std::gcd(slope, offset), divisor);
        out.slope = slope / common;
        out.offset = offset / common;
        out.divisor = divisor / common;
    };
    // ONNX takes scale * input for the resized length here, although the result has whole pixels.
    if (const int64_t last = b * input - a; mode == "align_corners")
        output > 1 && last > 0 ? set((input - 1) * a, 0, last) : set(0, 0, 1);
    else if (mode == "asymmetric")
        set(a, 0, b);
    else if (mode == "tf_half_pixel_for_nn")
        set(2 * a, a, 2 * b);
    else if (mode == "pytorch_half_pixel" && output == 1)
        set(0, 0, 1);
    else if (mode == "half_pixel_symmetric")
        set(2 * a, a - b + input * b - output * a, 2 * b);
    else
        set(2 * a, a - b, 2 * b);
    return out;
}

} // namespace tenon::compiler
