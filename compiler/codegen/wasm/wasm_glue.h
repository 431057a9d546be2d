// SPDX-License-Identifier: Apache-2.0
// What a WebAssembly module brings because it imports nothing.
#pragma once

#include <string>
#include <vector>

namespace tenon::compiler {

struct ExecutorProgram;

/// Added to the AOT glue: workspaces, sequential launches and the last error, set by `_initialize`.
std::string wasmRuntimeText();

/// What such a module exports, sorted.
std::vector<std::string> wasmExports(const ExecutorProgram& program);

} // namespace tenon::compiler
