// SPDX-License-Identifier: Apache-2.0
// TargetFacts: the few numbers that schedule rules ask about a processor; filled by the code
// generator.
#pragma once

#include <cstdint>

namespace tenon::core {

/// What a schedule may assume of the machine. The defaults describe a plain 128-bit SIMD core.
struct TargetFacts
{
    int vectorBytes = 16;     ///< widest vector worth using, in bytes
    int vectorRegisters = 16; ///< architectural vector registers
    bool hasFma = false;
    bool hasEmbeddedBroadcast =
        false;                   ///< a scalar memory operand can be broadcast for free (AVX-512)
    bool hasLaneOperand = false; ///< one lane of a register multiplies a vector for free (AArch64)
    int64_t l1Bytes = 32768;     ///< data cache of one core
    int64_t l2Bytes = int64_t{1} << 20;
    unsigned threads = 1; ///< threads a parallel loop may use
    /// Fewest cycles of one thread that are worth sharing, some 8 us: handing work to a spinning
    /// worker and waiting for it takes about 1 us, and more is lost where each core then holds a
    /// half of what the next kernel reads (two threads, kws_dscnn: 30 us from 25000 on, 39 us with
    /// 12000).
    int64_t sharedCycles = 25000;

    /// Lanes of one vector for elements of `elementBytes` bytes.
    constexpr int lanes(int elementBytes) const { return vectorBytes / elementBytes; }
};

} // namespace tenon::core
