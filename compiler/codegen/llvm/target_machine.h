// SPDX-License-Identifier: Apache-2.0
// From a core::Target to LLVM's tables and code generator; LLVM's version-dependent API stays in
// this file's source.
#pragma once

#include "compiler/codegen/llvm/byte_dot.h"
#include "compiler/codegen/machine_spec.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
}

namespace tenon::compiler {

/// A new code generator; one per thread, it is not thread-safe. LLVM's targets are registered on
/// first use.
Result<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const MachineSpec& spec);

/// True for 32-bit Arm processors with Neon that load bytes from the low end.
bool isNeonOfWords(const llvm::TargetMachine& machine);

ByteDot byteDot(const llvm::TargetMachine& machine);
/// True for Intel AMX where the system lends tiles to who asks: 64-bit Linux.
bool multipliesTiles(const llvm::TargetMachine& machine);
/// AArch64 multiplies into wider lanes, narrows and saturates.
bool hasNarrowLanes(const llvm::TargetMachine& machine);
/// AVX-512 VBMI brings bytes of a vector into any order.
bool permutesBytes(const llvm::TargetMachine& machine);

/// True when vectors of 16 have estimates of reciprocals that one Newton step makes exact to an
/// ulp; LLVM uses estimates of 12 bits for shorter ones.
bool hasReciprocal(const llvm::TargetMachine& machine);

/// CPU and feature names LLVM knows for a triple (empty: this computer).
Result<CpuTables> cpuTables(const std::string& triple);

/// This computer's CPU name, triple and enabled features.
MachineSpec hostMachine();

} // namespace tenon::compiler
