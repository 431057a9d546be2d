// SPDX-License-Identifier: Apache-2.0
// The fields of TargetFacts by name: what writes facts down and reads them back walks this one
// list.
#pragma once

#include "core/target/target_facts.h"

namespace tenon::core {

/// Calls `visit("vector_bytes", facts.vectorBytes)` and so on; a field that is not in the list does
/// not compile.
template <class Facts, class Visitor>
void visitFields(Facts& facts, Visitor&& visit)
{
    auto& [vectorBytes, vectorRegisters, hasFma, hasEmbeddedBroadcast, hasLaneOperand, l1Bytes,
           l2Bytes, threads, sharedCycles] = facts;
    visit("vector_bytes", vectorBytes);
    visit("vector_registers", vectorRegisters);
    visit("fma", hasFma);
    visit("embedded_broadcast", hasEmbeddedBroadcast);
    visit("lane_operand", hasLaneOperand);
    visit("l1_bytes", l1Bytes);
    visit("l2_bytes", l2Bytes);
    visit("threads", threads);
    visit("shared_cycles", sharedCycles);
}

} // namespace tenon::core
