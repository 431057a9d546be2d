// SPDX-License-Identifier: Apache-2.0
// The graph IR as text in the manner of Relay; printer and parser are inverse up to value names.
#pragma once

#include "core/base/result.h"
#include "core/ir/module.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace tenon::core {

/// Constants too large for literals, by the hexadecimal content hash that `const(#hash)` names.
using ConstantPool = std::map<std::string, std::shared_ptr<const Tensor>>;
ConstantPool constantPool(const Module& module);

struct GraphTextOptions
{
    bool kernels = true;  ///< loop functions after the graph functions, as `kernel name { ... }`
    bool origins = false; ///< `// from conv1, bn1` behind every node; read as a comment
    bool hashes = true;   ///< false: `const(...)` for large constants (fast, cannot be read back)
};

/// Canonical: functions by id, values renumbered in order, attributes sorted, types always shown.
///
///     def @main(%x: Tensor[(1, 4), float32]) -> Tensor[(1, 2), float32] {
///       %c0 = const(0.5f) : Tensor[(), float32]
///       %0:2 = split(%x, axis=1, indices=[2]) : Tensor[(1, 2), float32], Tensor[(1, 2), float32]
///       %1 = multiply(%0.1, %c0) : Tensor[(1, 2), float32]
///       return %1
///     }
///
/// `@callee(%a)` calls a graph function, `R.call_tir(kernel, %a)` a loop function, `_` is an absent
/// operand, `bodies=[@f]` names nested functions, `return %1 as "y"` a result with an outside name.
std::string printModule(const Module& module, const GraphTextOptions& options = {});
std::string printFunction(const Module& module, const GraphFunction& function,
                          const GraphTextOptions& options = {});
/// One node with ids in place of value names: "%17 = nn.relu(%12) : Tensor[...]".
std::string printNode(const Module& module, const NodeRecord& node);

/// Reads what printModule() writes. Also `rand(seed)` or `rand(seed, low, high)` in place of
/// `const`: a made-up tensor of the stated type, for tests. Every operator of the text becomes a
/// source of its own. Errors are BadText with line:column in the location's detail.
Result<Module> parseModule(std::string_view text, const ConstantPool& pool = {});

} // namespace tenon::core
