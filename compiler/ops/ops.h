// SPDX-License-Identifier: Apache-2.0
// The definition of every operator by its C++ name, and the question whether a node is one:
// isOp(node, conv2dOp).
#pragma once

#include "compiler/ops/op.h"

namespace tenon::compiler {

#define OP(id) extern const OpDef id##Op;
#include "compiler/ops/ops.def"
#undef OP

inline bool isOp(const NodeRecord& node, const OpDef& op)
{
    return node.kind == NodeKind::Op && node.op == op.name;
}

template <typename... Ops>
bool isOneOf(const NodeRecord& node, const Ops&... ops)
{
    return (isOp(node, ops) || ...);
}

} // namespace tenon::compiler
