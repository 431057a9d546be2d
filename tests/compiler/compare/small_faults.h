// SPDX-License-Identifier: Apache-2.0
// Small faults in the constants of one kernel call, as bytes of a program's file.
#pragma once

#include "compiler/driver/compile_stages.h"
#include "core/tensor/tensor.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon::test {

/// A constant of a call, before and after.
struct SmallFault
{
    std::string name;
    std::string before, after; ///< bytes
};

/// Every fault that the constants of the call have room for: signs, bits of exponent and mantissa,
/// integers one and 64 steps off, biases, scales, two channels that changed places.
std::vector<SmallFault> smallFaults(const compiler::CompileResult& built, size_t call);

/// Changes the file where it holds the constant; counts in `planted`.
std::function<void(std::string& bytes)> planted(const SmallFault& fault, size_t& planted);

} // namespace tenon::test
