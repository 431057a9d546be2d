// SPDX-License-Identifier: Apache-2.0
// Readers of the filters of films, and the taps of some frames as channels.
#include "compiler/passes/layout/film_filters.h"

#include "compiler/ops/ops.h"
#include "compiler/ops/quads.h"

#include <algorithm>
#include <cstring>

namespace tenon::compiler {
namespace {

constexpr size_t kRank = 5;

} // namespace

std::optional<FilmFilters> readFilmFilters(const Module& module, ValueRef operand)
{
    if (!operand.node.isValid()) return std::nullopt;
    const NodeRecord& node = module.node(operand.node);
    if (const Tensor* weight = constantOf(module, operand))
        return weight->dtype() == kFloat32 ? std::optional(FilmFilters{weight, &node})
                                           : std::nullopt;
    if (node.kind != NodeKind::Op || !isOp(node, qnnDequantizeOp) ||
        node.attrs.integer("block_size", 0) != 0)
        return std::nullopt;
    const Tensor* weight = constantOf(module, node.operands[0]);
    const bool isByFilter = convertsByOneScale(module, node) ||
                            normalizedAxis(node.attrs.integer("axis", 1), kRank) == 0;
    if (!weight || !isByte(weight->dtype()) || node.types.at(0).dtype != kFloat32 || !isByFilter)
        return std::nullopt;
    return FilmFilters{weight, &module.node(node.operands[0].node), &node};
}

Tensor filtersOfFrames(const Tensor& weight, int64_t first, int64_t taps)
{
    const std::vector<int64_t>& from = weight.shape();
    const int64_t plane = from[3] * from[4];
    const auto fill = [&](std::span<std::byte> out) {
        const size_t bytes = static_cast<size_t>(plane * weight.dtype().bytes());
        std::byte* at = out.data();
        for (int64_t o = 0; o < from[0]; ++o)
            for (int64_t k = first; k < first + taps; ++k)
                for (int64_t c = 0; c < from[1]; ++c, at += bytes)
                    std::memcpy(at,
                                weight.bytes().data() +
                                    static_cast<size_t>((o * from[1] + c) * from[2] + k) * bytes,
                                bytes);
    };
    return Tensor::make(weight.dtype(), {from[0], taps * from[1], from[3], from[4]}, fill);
}

bool hasFilmsOfIntegers(const Module& module, const GraphFunction& function)
{
    return std::any_of(function.order.begin(), function.order.end(), [&](NodeId id) {
        const NodeRecord& node = module.node(id);
        if (node.kind != NodeKind::Op || !isOp(node, convOp)) return false;
        const auto filters = readFilmFilters(module, node.operands[1]);
        return filters && filters->dequantize && filters->weight->shape().size() == kRank;
    });
}

} // namespace tenon::compiler
