// SPDX-License-Identifier: Apache-2.0
// The first member that can be done in more than one way says which it was, or why it was the plain
// one.
#include "compiler/executor/call_method.h"

#include "compiler/ops/ops.h"

#include <algorithm>

namespace tenon::compiler {

using namespace core;

namespace {

constexpr int64_t kLeastBlock = 4; ///< of channels

bool movesOnly(const Module& module, NodeId id)
{
    const NodeRecord& node = module.node(id);
    if (node.kind != NodeKind::Op) return false;
    const Family family = factsOf(node).family;
    return (family == Family::Movement || family == Family::Layout) &&
           costOf(module, node).flops == 0;
}

std::string channelsText(const Dim& channels) { return channels.text() + " channels"; }

/// Of a convolution of plain values.
std::string whyPlain(const Module& module, const NodeRecord& node)
{
    const Dim& inputs = module.type(node.operands[0]).shape[1];
    const Dim& outputs = node.types[0].shape[1];
    const int64_t groups = node.attrs.integer("groups", 1);
    if (!inputs.isConst() || !outputs.isConst()) return channelsText(inputs) + " are not known";
    const bool isDepthwise = groups == inputs.value();
    const int64_t parts = isDepthwise ? 1 : groups;
    const std::string of = parts > 1 ? std::to_string(groups) + " groups of " : std::string();
    const int64_t in = inputs.value() / parts, out = outputs.value() / parts;
    for (const int64_t count : {in, out})
        if (count % kLeastBlock != 0) return of + std::to_string(count) + " channels fill no block";
    return "blocks of " + of + std::to_string(in) + " to " + std::to_string(out) +
           " channels were weighed as slower, or have no form here";
}

} // namespace

CallMethod methodOf(const Module& module, const std::vector<NodeId>& members)
{
    if (!members.empty() && std::all_of(members.begin(), members.end(),
                                        [&](NodeId id) { return movesOnly(module, id); }))
        return {Method::Moves};
    for (const NodeId id : members) {
        const NodeRecord& node = module.node(id);
        const OpDef& op = factsOf(node);
        if (op.method.kind != Method::None) return op.method;
        if (!op.variant) continue;
        const Types operands = operandTypes(module, node);
        return op.variant({node.op, node.attrs, operands, node.types});
    }
    return {};
}

std::string plainReason(const Module& module, const std::vector<NodeId>& members)
{
    for (const NodeId id : members) {
        const NodeRecord& node = module.node(id);
        const Method method = methodOf(module, {id}).kind;
        if (method != Method::PlainLoops && method != Method::Rows) continue;
        return node.op == conv2dOp.name ? whyPlain(module, node)
                                        : std::string(node.op) + " has no blocked form";
    }
    return {};
}

} // namespace tenon::compiler
