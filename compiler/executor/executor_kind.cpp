// SPDX-License-Identifier: Apache-2.0
// Names of the executors, both ways.
#include "compiler/executor/executor_kind.h"

namespace tenon::compiler {

std::string_view executorName(ExecutorKind executor)
{
    switch (executor) {
    case ExecutorKind::Graph: return "graph";
    case ExecutorKind::Aot: return "aot";
    case ExecutorKind::Vm: return "vm";
    }
    return "";
}

} // namespace tenon::compiler
