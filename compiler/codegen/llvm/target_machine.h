// SPDX-License-Identifier: Apache-2.0
// From a core::Target to LLVM's tables and code generator; LLVM's version-dependent API stays in
// this file's source.
#pragma once

#include "compiler/codegen/llvm/byte_dot.h"
#include "core/base/result.h"
#include "core/target/target.h"
#include "core/target/target_facts.h"
#include "core/tensor/dtype.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
}

namespace tenon::compiler {

using namespace core;

/// What LLVM is told: `native` and empty fields resolved to this computer.
struct MachineSpec
{
    std::string triple;
    std::string cpu;
    std::string features; ///< "+avx2,-avx512f" form
    std::string abi;
    /// How floats are passed: in their registers, or in those of integers though there are
    /// instructions for them (softfp), or there are none (soft). Only 32-bit Arm has the choice.
    enum class FloatAbi : uint8_t
    {
        Hard,
        SoftFp,
        Soft
    };
    FloatAbi floatAbi = FloatAbi::Hard;
    int optLevel = kUsualOptLevel;
    bool vectorizes = true;      ///< false: vectorized loops are run one element at a time
    bool isThisComputer = false; ///< caches may be measured; code does not depend on it

    /// C source for some compiler; LLVM is not asked.
    bool isSource() const { return triple == "c"; }

    static constexpr int kUsualOptLevel = 2; ///< of LLVM's code generator
    friend bool operator==(const MachineSpec&, const MachineSpec&) = default;
    std::string text() const; ///< one line, part of cache keys
};

/// "hard", "softfp", "soft", as a C compiler's -mfloat-abi has it.
std::string_view floatAbiText(MachineSpec::FloatAbi abi);

/// Resolves and validates the target against LLVM's CPU and feature tables.
Result<MachineSpec> machineSpec(const Target& target);

/// A new code generator; one per thread, it is not thread-safe. LLVM's targets are registered on
/// first use.
Result<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const MachineSpec& spec);

ByteDot byteDot(const llvm::TargetMachine& machine);
/// The type of the bytes that the target multiplies with int8 cheaply enough to lay out data for
/// it: uint8 or int8; none where it does not.
std::optional<DataType> dotValues(const Target& target);

/// True when vectors of 16 have estimates of reciprocals that one Newton step makes exact to an
/// ulp; LLVM uses estimates of 12 bits for shorter ones.
bool hasReciprocal(const llvm::TargetMachine& machine);

/// CPU and feature names LLVM knows for a triple (empty: this computer).
Result<CpuTables> cpuTables(const std::string& triple);

/// Vector width, registers and caches of the target; caches are measured only for this computer.
/// How many threads there are is for chooseThreads() to say.
Result<TargetFacts> targetFacts(const MachineSpec& spec);

/// This computer's CPU name, triple and enabled features.
MachineSpec hostMachine();

} // namespace tenon::compiler
