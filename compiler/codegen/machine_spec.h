// SPDX-License-Identifier: Apache-2.0
// MachineSpec: what code is made for, with nothing left open.
#pragma once

#include "core/base/result.h"
#include "core/target/target.h"

#include <string>
#include <string_view>

namespace tenon::compiler {

using namespace core;

struct BackEnd;

/// The first word of a triple: "aarch64".
std::string_view architectureOf(std::string_view triple);

/// A target with `native` and empty fields resolved. The fields are LLVM's; a back end that asks
/// another compiler fills in what that one needs.
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
    bool vectorizes = true;           ///< false: vectorized loops are run one element at a time
    bool isThisComputer = false;      ///< caches may be measured; code does not depend on it
    const BackEnd* backEnd = nullptr; ///< who makes the code

    static constexpr int kUsualOptLevel = 2; ///< of LLVM's code generator
    friend bool operator==(const MachineSpec&, const MachineSpec&) = default;
    std::string text() const; ///< one line, part of cache keys
    std::string_view architecture() const { return architectureOf(triple); } ///< or "c"
};

/// "hard", "softfp", "soft", as a C compiler's -mfloat-abi has it.
std::string_view floatAbiText(MachineSpec::FloatAbi abi);

} // namespace tenon::compiler
