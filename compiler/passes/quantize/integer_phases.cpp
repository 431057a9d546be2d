// SPDX-License-Identifier: Apache-2.0
// Products by words of four channels: phases leave out taps that windows multiply with zeros, but
// each fills its own last word.
#include "compiler/passes/quantize/integer_phases.h"

#include <cstring>

namespace tenon::compiler {

std::optional<IntegerPhases> integerPhases(const Module& module, const NodeRecord& node,
                                           const std::vector<int64_t>& weight)
{
    if (node.attrs.integer("groups", 1) != 1) return std::nullopt;
    IntegerPhases out{phasesOf(module, node, weight), {}, inWords(weight[1])};
    if (!out.phases.empty() && out.filters == weight[1]) return out;
    auto windows = transposedWindows(module, node, weight);
    const bool isByPhases =
        !out.phases.empty() &&
        (!windows || out.filters * weight[2] * weight[3] <
                         inWords(windows->phases() * weight[1]) * windows->taps());
    if (isByPhases) return out;
    if (!windows) return std::nullopt;
    return IntegerPhases{{}, std::move(windows), weight[1]};
}

Tensor withFilters(const Tensor& weight, int64_t filters)
{
    std::vector<int64_t> shape = weight.shape();
    const auto each = static_cast<size_t>(shape[1] * shape[2] * shape[3]) * weight.dtype().bytes();
    const auto inputs = static_cast<size_t>(shape[0]);
    shape[1] = filters;
    return Tensor::make(weight.dtype(), shape, [&](std::span<std::byte> out) {
        std::memset(out.data(), 0, out.size());
        for (size_t i = 0; i < inputs; ++i)
            std::memcpy(out.data() + i * (out.size() / inputs), weight.bytes().data() + i * each,
                        each);
    });
}

} // namespace tenon::compiler
