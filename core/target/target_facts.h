// SPDX-License-Identifier: Apache-2.0
// TargetFacts: the few numbers that schedule rules and cost models ask about a processor; filled by
// the code generator from what LLVM knows and from the table of machines.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tenon::core {

/// What a schedule may assume of the machine. The defaults describe a plain 128-bit SIMD core in
/// the surroundings of a server.
struct TargetFacts
{
    int vectorBytes = 16;     ///< widest vector worth using, in bytes
    int vectorRegisters = 16; ///< architectural vector registers
    bool hasFma = false;
    bool hasEmbeddedBroadcast =
        false;                   ///< a scalar memory operand can be broadcast for free (AVX-512)
    bool hasLaneOperand = false; ///< one lane of a register multiplies a vector for free (AArch64)
    bool hasHalfLanes = false; ///< one lane of 16 bits multiplies a vector of such for free (NEON)
    int64_t l1Bytes = 32768;   ///< data cache of one core
    int64_t l2Bytes = int64_t{1} << 20;
    int64_t l3Bytes = int64_t{32} << 20; ///< 0: memory lies behind the second level
    unsigned threads = 1;                ///< threads a parallel loop may use

    // Per cycle of one core.
    double floatMacs = 32;        ///< products of float32 that are added to a sum
    double byteMacs = 128;        ///< of int8, added to sums of 32 bits
    double byteTileMacs = 0;      ///< the same by tiles of 16 rows; 0: it has none
    double vectorPipes = 2;       ///< arithmetic of vectors that begins, whatever their width
    double issueWidth = 2;        ///< instructions that a loop of such arithmetic and loads reaches
    double loads = 2;             ///< loads that begin, whatever their width
    double sumLatency = 4;        ///< cycles from one addition to a sum to the next
    double l1BytesPerCycle = 128; ///< that are read
    double l2BytesPerCycle = 32;
    double l3BytesPerCycle = 12;
    double memoryBytesPerCycle = 4.5; ///< asked for in time, while the other cores read, too
    double coldShare = 8.0 / 9;       ///< of it for a stream that nobody asks for in time
    double forkCycles = 3125;         ///< handing work to a waiting thread until it has answered

    /// Lanes of one vector for elements of `elementBytes` bytes.
    constexpr int lanes(int elementBytes) const { return vectorBytes / elementBytes; }
    /// Whole vectors of float32 that are multiplied and added per cycle; wide ones may take the
    /// place of two.
    constexpr double vectorMacs(int lanes) const
    {
        return std::min(vectorPipes, floatMacs / std::max(1, lanes));
    }
    constexpr double vectorMacs() const { return vectorMacs(lanes(4)); }
    /// Whole vectors of bytes, likewise.
    constexpr double byteVectorMacs() const
    {
        return std::min(vectorPipes, byteMacs / std::max(1, vectorBytes));
    }
    constexpr double vectorLoads() const { return std::min(loads, l1BytesPerCycle / vectorBytes); }
    /// From memory where nobody asks in time, by the core's own guess.
    constexpr double coldBytesPerCycle() const { return memoryBytesPerCycle * coldShare; }
    /// From behind the second-level cache.
    constexpr double farBytesPerCycle() const
    {
        return l3Bytes > l2Bytes ? l3BytesPerCycle : memoryBytesPerCycle;
    }
    /// Fewest cycles of one thread that are worth sharing: more is lost than the time of handing
    /// over where each core then holds a half of what the next kernel reads (Sapphire Rapids, two
    /// threads, kws_dscnn: 30 us from 25000 on, 39 us with 12000; handing over takes 3000).
    constexpr double sharedCycles() const { return 8 * forkCycles; }
};

} // namespace tenon::core
