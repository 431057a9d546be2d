// SPDX-License-Identifier: Apache-2.0
// ExecutorKind: who strings the calls of a compiled model together.
#pragma once

#include <cstdint>
#include <string_view>

namespace tenon::compiler {

enum class ExecutorKind : uint8_t
{
    Graph,
    Aot,
    Vm
};

inline constexpr ExecutorKind kAllExecutors[] = {ExecutorKind::Graph, ExecutorKind::Aot,
                                                 ExecutorKind::Vm};

std::string_view executorName(ExecutorKind executor);

} // namespace tenon::compiler
