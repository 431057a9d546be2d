// SPDX-License-Identifier: Apache-2.0
// The functions behind passes.def, and what the runner shares with them.
#pragma once

#include "compiler/passes/pass.h"

namespace tenon::compiler {

#define PASS(function, ...)                                                                        \
    Result<Patches> function(const Module& module, const PassContext& context);
#include "compiler/passes/passes.def"

/// Result types of any kind of node; errors carry the node.
Result<Types> typesOf(const Module& module, const NodeRecord& node);
/// Completes records without types, in topological order.
Status inferMissingTypes(Module& module);
/// Types of operators with symbolic sizes as their operands now give them: what replaced an operand
/// may know more of its sizes.
Result<Patches> refineTypes(const Module& module);

/// Structure and operator rules: known operators, operand counts, stored types as inferred.
std::vector<Diagnostic> verifyGraph(const Module& module);

/// Patches of these rules are needed by what follows; --max-rewrites never holds them back.
bool isRequiredRule(std::string_view rule);

} // namespace tenon::compiler
