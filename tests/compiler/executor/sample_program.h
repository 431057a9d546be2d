// SPDX-License-Identifier: Apache-2.0
// A small program with hand-written kernels: two inputs, a constant, a view, copied outputs.
#pragma once

#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/executor/program.h"

#include <string>

namespace tenon::test {

/// sum = x + w; twice = sum + sum; y = twice + b; outputs y (2, 3), flat = reshape(sum) (6),
/// x again, and w again.
compiler::ExecutorProgram sampleProgram();

/// The kernel `tenon_kernel_add` (a, b, out: 6 floats). It takes 24 bytes of workspace through the
/// runtime pointer and fails with -1 when there is none.
std::string sampleKernelText();

/// The same kernel, failing always.
std::string failingKernelText();

/// A plain processor of this architecture; the object must run on this computer for "".
compiler::MachineSpec sampleMachine(const std::string& triple = "");

} // namespace tenon::test
