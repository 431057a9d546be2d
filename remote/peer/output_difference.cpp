// SPDX-License-Identifier: Apache-2.0
// Counts outputs that differ from ONNX Runtime's by more than rounding, element by element.
#include "remote/peer/output_difference.h"

#include "core/base/text.h"
#include "core/tensor/onnx_types.h"
#include "core/tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

namespace tenon::remote {
namespace {

using core::Tensor;

constexpr double kRelative = 1e-3;

std::optional<Tensor> tensorOf(const core::OnnxTensor& tensor)
{
    const auto dtype = core::dataTypeOf(tensor.elementType);
    if (!dtype) return std::nullopt;
    const auto bytes = static_cast<size_t>(core::elementCount(tensor.dims) * dtype->bytes());
    if (bytes != tensor.raw.size()) return std::nullopt;
    return Tensor::make(*dtype, tensor.dims, [&](std::span<std::byte> out) {
        std::memcpy(out.data(), tensor.raw.data(), out.size());
    });
}

std::string threeDigits(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

double largestOf(const Tensor& tensor)
{
    double largest = 0;
    for (int64_t i = 0; i < tensor.size(); ++i)
        if (const double value = std::abs(tensor.number(i)); std::isfinite(value))
            largest = std::max(largest, value);
    return largest;
}

} // namespace

double outputShareOf(const core::Manifest& manifest)
{
    constexpr double kQuantizedShare = 0.02;
    const bool isQuantized =
        std::any_of(manifest.calls.begin(), manifest.calls.end(),
                    [](const core::ManifestCall& call) { return call.method.isInt8; });
    return isQuantized ? kQuantizedShare : kFloatShare;
}

std::string OutputDifference::text() const
{
    if (isSame()) return {};
    if (elements == 0) return "there are no outputs to compare";
    return core::thousands(outside) + " of " + core::thousands(elements) +
           " output elements differ, by up to " + threeDigits(maxAbsError) +
           " where the largest is " + threeDigits(largest);
}

void addDifference(const core::OnnxTensor& got, const core::OnnxTensor& wanted, double share,
                   OutputDifference& difference)
{
    const auto a = tensorOf(got), b = tensorOf(wanted);
    const int64_t count = core::elementCount(wanted.dims);
    difference.elements += count;
    if (!a || !b || got.dims != wanted.dims || !(a->dtype() == b->dtype())) {
        difference.outside += std::max<int64_t>(1, count);
        return;
    }
    const double largest = largestOf(*b);
    const bool isFloat = b->dtype().isFloat();
    const bool isStep = b->dtype().bytes() == 1 && !b->dtype().isBool();
    const double allowed = isFloat ? share * largest : isStep ? 1 : 0;
    difference.largest = std::max(difference.largest, largest);
    for (int64_t i = 0; i < count; ++i) {
        const double x = a->number(i), y = b->number(i);
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        const double apart = std::abs(x - y);
        if (std::isfinite(apart)) difference.maxAbsError = std::max(difference.maxAbsError, apart);
        const bool isInside = apart <= allowed + (isFloat ? kRelative * std::abs(y) : 0);
        difference.outside += isInside ? 0 : 1; // also where one is no number
    }
}

} // namespace tenon::remote
