// SPDX-License-Identifier: Apache-2.0
// Walks from the results back to the first quantized tensor on every path.
#include "app/cli/quantized_tail.h"

#include "compiler/ops/ops.h"

#include <algorithm>
#include <unordered_set>

namespace tenon::cli {
namespace {

bool isRounding(const NodeRecord& node)
{
    const compiler::OpDef* op = compiler::findOp(node.op);
    return !op || op->accuracy != compiler::Accuracy::Exact;
}

bool quantizes(const NodeRecord& node)
{
    return compiler::isOp(node, compiler::qnnQuantizeOp) ||
           compiler::isOp(node, compiler::qnnRequantizeOp);
}

/// True when the integers of `node` may round another way: something before them is not exact.
bool mayDiffer(const Module& module, const NodeRecord& quantizer)
{
    if (compiler::isOp(quantizer, compiler::qnnRequantizeOp)) return true;
    std::unordered_set<NodeId> seen;
    std::vector<NodeId> pending;
    const auto add = [&](const NodeRecord& node) {
        for (const ValueRef& operand : node.operands)
            if (operand.node.isValid()) pending.push_back(operand.node);
    };
    add(quantizer);
    while (!pending.empty()) {
        const NodeId id = pending.back();
        pending.pop_back();
        if (!seen.insert(id).second) continue;
        const NodeRecord& node = module.node(id);
        if (node.kind == NodeKind::Parameter || node.kind == NodeKind::Constant) continue;
        if (node.kind != NodeKind::Op || isRounding(node)) return true;
        add(node);
    }
    return false;
}

/// The nodes that quantize last, in the order in which they compute.
std::vector<NodeId> lastQuantizers(const Module& module)
{
    std::unordered_set<NodeId> found;
    std::unordered_set<NodeId> seen;
    std::vector<NodeId> pending;
    for (const ValueRef& result : module.main().results) pending.push_back(result.node);
    while (!pending.empty()) {
        const NodeId id = pending.back();
        pending.pop_back();
        if (!id.isValid() || !seen.insert(id).second) continue;
        const NodeRecord& node = module.node(id);
        if (quantizes(node)) {
            const bool isInteger = node.types.size() == 1 && !node.types[0].dtype.isFloat();
            if (isInteger && mayDiffer(module, node)) found.insert(id);
            continue;
        }
        for (const ValueRef& operand : node.operands) pending.push_back(operand.node);
    }
    std::vector<NodeId> ordered;
    for (const NodeId id : module.main().order)
        if (found.contains(id)) ordered.push_back(id);
    return ordered;
}

/// What nobody reads any more goes: it would only be computed for nothing.
void dropUnread(GraphFunction& main, const Module& module)
{
    std::unordered_set<NodeId> read;
    for (const ValueRef& result : main.results) read.insert(result.node);
    std::vector<NodeId> kept;
    for (auto id = main.order.rbegin(); id != main.order.rend(); ++id) {
        if (!read.contains(*id)) continue;
        kept.push_back(*id);
        for (const ValueRef& operand : module.node(*id).operands)
            if (operand.node.isValid()) read.insert(operand.node);
    }
    main.order.assign(kept.rbegin(), kept.rend());
}

} // namespace

std::optional<QuantizedTail> quantizedTail(const compiler::Loaded& loaded)
{
    const std::vector<NodeId> cuts = lastQuantizers(loaded.module);
    if (cuts.empty()) return std::nullopt;
    QuantizedTail out{loaded, loaded, {}, loaded.module.main().results.size()};
    GraphFunction head = loaded.module.main();
    GraphFunction tail = head;
    head.resultNames.resize(out.outputs);
    for (const NodeId id : cuts) {
        out.names.push_back("tenon_quantized_" + std::to_string(out.names.size()));
        head.results.push_back({id, 0});
        head.resultNames.push_back(out.names.back());
        NodeRecord input = loaded.module.node(id);
        input.kind = NodeKind::Parameter;
        input.name = out.names.back();
        input.op.clear();
        input.operands.clear();
        input.attrs = {};
        tail.order.erase(std::find(tail.order.begin(), tail.order.end(), id));
        tail.params.push_back(id);
        out.tail.module.setNode(std::move(input));
    }
    dropUnread(tail, out.tail.module);
    out.head.module.setFunction(std::move(head));
    out.tail.module.setFunction(std::move(tail));
    return out;
}

} // namespace tenon::cli
