// SPDX-License-Identifier: Apache-2.0
// Signal to error, largest difference, cosine, units in the last place and histogram of two
// tensors.
#include "core/compare/tensor_error.h"

#include "core/base/check.h"
#include "core/compare/own_steps.h"
#include "core/compare/stepped_parts.h"

#include <algorithm>
#include <cmath>

namespace tenon::core {
namespace {

constexpr double kInfinite = HUGE_VAL;

/// Digits of the significand, the leading one included.
int digitsOf(DataType dtype)
{
    if (dtype == kBfloat16) return 8;
    if (dtype.bits == 16) return 11;
    return dtype.bits == 64 ? 53 : 24;
}

int leastExponent(DataType dtype)
{
    if (dtype == kBfloat16 || dtype.bits == 32) return -126;
    return dtype.bits == 16 ? -14 : -1022;
}

/// One unit in the last place of a float of the type near `value`.
double ulpOf(double value, DataType dtype)
{
    int exponent = 0;
    std::frexp(value, &exponent);
    exponent = std::max(exponent - 1, leastExponent(dtype));
    return std::ldexp(1.0, exponent - digitsOf(dtype) + 1);
}

int binOf(double difference, double rms)
{
    if (difference == 0) return 0;
    if (!std::isfinite(difference) || rms == 0) return kErrorBins - 1;
    const int decade = static_cast<int>(std::floor(std::log10(difference / rms))) + 1;
    return std::clamp(decade + 9, 1, kErrorBins - 1);
}

bool isSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

double differenceOf(double got, double wanted)
{
    if (isSame(got, wanted)) return 0;
    const double difference = std::fabs(got - wanted);
    return std::isfinite(difference) ? difference : kInfinite;
}

/// Whether an integer lies at an end of its type.
bool isAtEnd(DataType dtype, int64_t value)
{
    const bool isSigned = dtype.isSigned();
    const int64_t most = (int64_t{1} << (dtype.bits - (isSigned ? 1 : 0))) - 1;
    return value == most || value == (isSigned ? -most - 1 : 0);
}

/// Sums over all elements.
struct Sums
{
    double error = 0, signal = 0, product = 0, got = 0;

    void add(double have, double want)
    {
        const double difference = differenceOf(have, want);
        error += difference * difference;
        if (!std::isfinite(have) || !std::isfinite(want)) return;
        signal += want * want;
        got += have * have;
        product += have * want;
    }
};

void fill(TensorError& out, const Sums& sums)
{
    const double count = static_cast<double>(std::max<int64_t>(out.elements, 1));
    out.rms = std::sqrt(sums.error / count);
    out.referenceRms = std::sqrt(sums.signal / count);
    out.sqnrDb = sums.error == 0              ? kInfinite
                 : !std::isfinite(sums.error) ? -kInfinite
                 : sums.signal == 0           ? -kInfinite
                                              : 10 * std::log10(sums.signal / sums.error);
    const double norms = std::sqrt(sums.signal) * std::sqrt(sums.got);
    out.cosine = norms > 0 ? sums.product / norms : (sums.error == 0 ? 1 : 0);
}

bool areSteps(const Tensor& got, const Tensor& wanted)
{
    return !got.dtype().isFloat() && got.dtype() == wanted.dtype();
}

/// The largest of a million errors on both sides is 7 times their root mean square, and terms that
/// are alike or partial sums that are larger than the result may double it.
constexpr double kLargestOfMany = 14;

/// Floats and integers beside their like of 32 bits or less, which both sides round alike.
std::optional<SumRounding> roundingOf(const Tensor& got, const Tensor& wanted,
                                      const ErrorLimits& limits)
{
    const bool isKnown = limits.holdsToRounding && !limits.isOtherModel && !limits.leastSqnrDb;
    if (!isKnown || got.dtype() != wanted.dtype()) return std::nullopt;
    if (wanted.dtype() != kFloat32 && (wanted.dtype().isFloat() || wanted.dtype().bits > 8))
        return std::nullopt;
    return limits.rounding;
}

/// Looks at one element after another once the sums are known.
class Elements
{
public:
    Elements(const Tensor& got, const Tensor& wanted, const ErrorLimits& limits, TensorError& out)
        : m_got(got)
        , m_wanted(wanted)
        , m_limits(limits)
        , m_out(out)
        , m_isInteger(areSteps(got, wanted))
        , m_ulpType(wanted.dtype().isFloat() ? wanted.dtype() : kFloat32)
        , m_rounding(roundingOf(got, wanted, limits))
    {
        if (m_isInteger && m_rounding) m_differs.resize(static_cast<size_t>(got.size()));
    }

    /// Element `i` as real numbers.
    void add(int64_t i, double have, double want)
    {
        const double difference = differenceOf(have, want);
        ++m_out.histogram[static_cast<size_t>(binOf(difference, m_out.referenceRms))];
        if (difference == 0) return;
        ++m_different;
        if (!m_differs.empty()) m_differs[static_cast<size_t>(i)] = true;
        const double steps = m_isInteger ? std::fabs(m_got.number(i) - m_wanted.number(i))
                                         : difference / ulpOf(want, m_ulpType);
        m_out.maxUlps = std::max(m_out.maxUlps, std::isfinite(steps) ? steps : kInfinite);
        if (difference > m_out.maxAbs || m_out.worst < 0) {
            m_out.maxAbs = difference;
            m_out.worst = i;
            m_out.worstGot = have;
            m_out.worstWanted = want;
        }
        const double share =
            m_wanted.dtype().bits == 16 ? m_limits.ofLargestHalf : m_limits.ofLargest;
        const double allowed = std::min(
            m_limits.relative * std::fabs(want) + share * m_out.referenceLargest, byRounding());
        const bool isBeyond =
            m_isInteger ? steps > static_cast<double>(m_limits.steps) : !(difference <= allowed);
        if (!isBeyond) return;
        ++m_out.outside;
        if (!m_got.dtype().isFloat() && m_got.dtype().bits <= 16)
            m_out.saturated += isAtEnd(m_got.dtype(), m_got.integer(i)) ? 1 : 0;
    }

    void judge()
    {
        if (m_limits.leastSqnrDb) {
            m_out.isOutside = m_out.sqnrDb < *m_limits.leastSqnrDb;
            return;
        }
        m_out.isRounded =
            m_limits.isOtherModel || (m_wanted.dtype().isFloat() && !m_got.dtype().isFloat());
        if (m_out.isRounded) {
            m_out.isOutside = m_out.steps ? m_out.steps->isBeyond(m_limits)
                                          : m_out.sqnrDb < m_limits.leastMixedDb;
            return;
        }
        m_out.isOutside = m_out.outside > 0;
        if (!m_isInteger) return;
        // One integer in a small tensor is no share yet.
        const double may =
            std::max(1.0, m_limits.steppedShare * static_cast<double>(m_out.elements));
        m_out.isOutside |= static_cast<double>(m_different) > may;
        if (m_rounding && isBeyondChance(m_differs, m_got.shape(), chanceOfStep())) {
            m_out.isOutside = true;
            m_out.outside = m_different;
        }
        m_out.isSteppedInside = m_different > 0 && !m_out.isOutside;
    }

private:
    double byRounding() const
    {
        if (!m_rounding || m_isInteger) return kInfinite;
        return kLargestOfMany *
               std::max(m_rounding->terms, m_rounding->share * m_out.referenceLargest);
    }

    /// That a sum as long as the type's range is rounded to the other integer: twice the error in
    /// steps lies around every half.
    double chanceOfStep() const
    {
        return std::min(1.0, 2 * m_rounding->share * std::ldexp(1.0, m_got.dtype().bits));
    }

    const Tensor& m_got;
    const Tensor& m_wanted;
    const ErrorLimits& m_limits;
    TensorError& m_out;
    bool m_isInteger;
    DataType m_ulpType;
    std::optional<SumRounding> m_rounding;
    std::vector<bool> m_differs; ///< by element, where a rounding is known
    int64_t m_different = 0;
};

} // namespace

size_t QuantizedUnits::scaleOf(const std::vector<int64_t>& shape, size_t i) const
{
    if (scales.size() <= 1) return 0;
    size_t inner = 1;
    for (size_t k = static_cast<size_t>(axis) + 1; k < shape.size(); ++k)
        inner *= static_cast<size_t>(shape[k]);
    return i / inner % scales.size();
}

std::vector<double> QuantizedUnits::realValues(const Tensor& tensor) const
{
    std::vector<double> out = tensor.numbers();
    if (!isQuantized()) return out;
    for (size_t i = 0; i < out.size(); ++i) {
        const size_t k = scaleOf(tensor.shape(), i);
        out[i] = (out[i] - static_cast<double>(zeros[k])) * scales[k];
    }
    return out;
}

std::string errorBinText(int bin)
{
    if (bin == 0) return "none";
    if (bin == kErrorBins - 1) return ">= 10";
    const int exponent = bin - 9;
    if (exponent == 1) return "< 10";
    if (exponent == 0) return "< 1";
    return "< 1e-" + std::string(exponent > -10 ? "0" : "") + std::to_string(-exponent);
}

TensorError tensorError(const Tensor& got, const QuantizedUnits& gotUnits, const Tensor& wanted,
                        const QuantizedUnits& wantedUnits, const ErrorLimits& limits)
{
    CHECK(got.size() == wanted.size())
        << "tensors of " << got.typeText() << " and " << wanted.typeText();
    const std::vector<double> have = gotUnits.realValues(got),
                              want = wantedUnits.realValues(wanted);
    TensorError out{.elements = got.size()};
    Sums sums;
    for (size_t i = 0; i < have.size(); ++i) {
        sums.add(have[i], want[i]);
        if (std::isfinite(want[i]))
            out.referenceLargest = std::max(out.referenceLargest, std::fabs(want[i]));
    }
    fill(out, sums);
    Elements elements(got, wanted, limits, out);
    for (size_t i = 0; i < have.size(); ++i)
        elements.add(static_cast<int64_t>(i), have[i], want[i]);
    if (gotUnits.isQuantized() && wanted.dtype().isFloat())
        out.steps = ownSteps(got, gotUnits, want);
    elements.judge();
    return out;
}

const TensorError& worse(const TensorError& a, const TensorError& b)
{
    if (a.isOutside != b.isOutside) return a.isOutside ? a : b;
    return b.sqnrDb < a.sqnrDb ? b : a;
}

} // namespace tenon::core
