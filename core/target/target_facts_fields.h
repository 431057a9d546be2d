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
    auto& [vectorBytes, vectorRegisters, hasFma, hasEmbeddedBroadcast, hasLaneOperand, hasHalfLanes,
           l1Bytes, l2Bytes, l3Bytes, threads, floatMacs, byteMacs, byteTileMacs, vectorPipes,
           issueWidth, loads, sumLatency, l1BytesPerCycle, l2BytesPerCycle, l3BytesPerCycle,
           memoryBytesPerCycle, coldShare, forkCycles] = facts;
    visit("vector_bytes", vectorBytes);
    visit("vector_registers", vectorRegisters);
    visit("fma", hasFma);
    visit("embedded_broadcast", hasEmbeddedBroadcast);
    visit("lane_operand", hasLaneOperand);
    visit("half_lanes", hasHalfLanes);
    visit("l1_bytes", l1Bytes);
    visit("l2_bytes", l2Bytes);
    visit("l3_bytes", l3Bytes);
    visit("threads", threads);
    visit("float_macs", floatMacs);
    visit("byte_macs", byteMacs);
    visit("byte_tile_macs", byteTileMacs);
    visit("vector_pipes", vectorPipes);
    visit("issue_width", issueWidth);
    visit("loads", loads);
    visit("sum_latency", sumLatency);
    visit("l1_bytes_per_cycle", l1BytesPerCycle);
    visit("l2_bytes_per_cycle", l2BytesPerCycle);
    visit("l3_bytes_per_cycle", l3BytesPerCycle);
    visit("memory_bytes_per_cycle", memoryBytesPerCycle);
    visit("cold_share", coldShare);
    visit("fork_cycles", forkCycles);
}

} // namespace tenon::core
