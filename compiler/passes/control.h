// SPDX-License-Identifier: Apache-2.0
// What the VM executes itself, so that it is no part of any kernel.
#pragma once

#include "compiler/ops/ops.h"
#include "core/ir/module.h"

namespace tenon::compiler {

/// Control flow, and the naming of dimensions.
inline bool isControl(const core::NodeRecord& node)
{
    return node.kind == core::NodeKind::Op && (!node.bodies.empty() || isOp(node, bindDimsOp));
}

} // namespace tenon::compiler
