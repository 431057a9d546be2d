// SPDX-License-Identifier: Apache-2.0
// Walks from the results back to the first dequantization on every path.
#include "app/cli/last_quantized.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>

namespace tenon::cli {
namespace {

/// Tensors read by dequantizations that no other dequantization stands behind.
std::vector<ValueRef> lastQuantized(const Module& module)
{
    std::vector<ValueRef> found;
    std::unordered_set<NodeId> seen;
    std::vector<NodeId> pending;
    for (const ValueRef& result : module.main().results) pending.push_back(result.node);
    while (!pending.empty()) {
        const NodeId id = pending.back();
        pending.pop_back();
        if (!id.isValid() || !seen.insert(id).second) continue;
        const NodeRecord& node = module.node(id);
        if (node.kind != NodeKind::Op) continue;
        if (node.op != "qnn.dequantize") {
            for (const ValueRef& operand : node.operands) pending.push_back(operand.node);
            continue;
        }
        const ValueRef integers = node.operands[0];
        if (module.node(integers.node).kind == NodeKind::Op &&
            std::find(found.begin(), found.end(), integers) == found.end())
            found.push_back(integers);
    }
    return found;
}

} // namespace

std::optional<compiler::Loaded> withLastQuantized(const compiler::Loaded& loaded)
{
    GraphFunction main = loaded.module.main();
    main.resultNames.resize(main.results.size());
    const size_t own = main.results.size();
    for (const ValueRef& value : lastQuantized(loaded.module)) {
        if (std::find(main.results.begin(), main.results.end(), value) != main.results.end())
            continue;
        main.results.push_back(value);
        main.resultNames.push_back("last_quantized_" + std::to_string(main.results.size() - own));
    }
    if (main.results.size() == own) return std::nullopt;
    compiler::Loaded out = loaded;
    out.module.setFunction(std::move(main));
    return out;
}

void QuantizedDifference::add(const Tensor& got, const Tensor& wanted)
{
    for (int64_t i = 0; i < wanted.size(); ++i) {
        const int64_t distance = std::abs(got.integer(i) - wanted.integer(i));
        ++elements;
        different += distance != 0;
        largest = std::max(largest, distance);
    }
}

} // namespace tenon::cli
