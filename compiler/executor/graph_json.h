// SPDX-License-Identifier: Apache-2.0
// The graph executor's JSON: nodes, entries, storage ids.
#pragma once

#include "compiler/executor/memory.h"
#include "compiler/executor/program.h"

#include <string>

namespace tenon::compiler {

/// TVM's graph JSON of the program. Views become `__nop` nodes on the storage they look at. Error
/// UnsupportedFeature when a view starts inside another tensor: graph JSON knows whole storages
/// only.
core::Result<std::string> graphJson(const ExecutorProgram& program, const StoragePlan& storage);

} // namespace tenon::compiler
