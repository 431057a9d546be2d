// SPDX-License-Identifier: Apache-2.0
// The loop IR as text in the manner of TVMScript; printer and parser are inverse up to value names.
#pragma once

#include "core/base/result.h"
#include "core/ir/tir/stmt.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace tenon::tir {

/// Canonical text; variable names are made unique by suffixes. `lines` (optional) maps each
/// statement to its 1-based line.
std::string print(const PrimFunc& function,
                  std::unordered_map<const StmtNode*, int>* lines = nullptr);
std::string print(const Expr& expr);
std::string print(const Stmt& stmt);

/// Errors are BadText with line and column in the location's detail.
Result<PrimFunc> parsePrimFunc(std::string_view text);

/// Structural rules (bound variables, ranks, dtypes, block bindings, init only with reductions);
/// InvalidIr on violation.
Status verify(const PrimFunc& function);

} // namespace tenon::tir
