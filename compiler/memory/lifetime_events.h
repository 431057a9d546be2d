// SPDX-License-Identifier: Apache-2.0
// Lifetimes as a sequence of starts and ends in program order.
#pragma once

#include "compiler/memory/memory_plan.h"

#include <vector>

namespace tenon::compiler {

/// A buffer starts or ends to be alive.
struct LifetimeEvent
{
    int64_t point;
    bool isEnd;
    int buffer;
};

/// By program point; starts come before ends, so that inclusive ends overlap.
std::vector<LifetimeEvent> lifetimeEvents(const std::vector<BufferInfo>& buffers);

} // namespace tenon::compiler
