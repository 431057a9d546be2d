// SPDX-License-Identifier: Apache-2.0
// The list of all operators, expanded from ops.def.
#include "compiler/ops/ops.h"

#include <algorithm>

namespace tenon::compiler {

namespace {

constexpr const OpDef* kAllOps[] = {
#define OP(id) &id##Op,
#include "compiler/ops/ops.def"
#undef OP
};

} // namespace

std::span<const OpDef* const> allOps() { return kAllOps; }

const OpDef* findOp(std::string_view name)
{
    const auto ops = allOps();
    const auto at =
        std::lower_bound(ops.begin(), ops.end(), name,
                         [](const OpDef* op, std::string_view n) { return op->name < n; });
    return at != ops.end() && (*at)->name == name ? *at : nullptr;
}

const OpDef& factsOf(const NodeRecord& node)
{
    static constexpr OpDef kNothing;
    const OpDef* op = node.kind == NodeKind::Op ? findOp(node.op) : nullptr;
    return op ? *op : kNothing;
}

} // namespace tenon::compiler
