// SPDX-License-Identifier: Apache-2.0
// Runs of programs for comparisons, and what can be wrong with a program.
#pragma once

#include "compiler/compare/compare.h"

#include <functional>
#include <memory>
#include <string>

namespace tenon::test {

using namespace compiler;

/// The digits sample with its data sets.
std::shared_ptr<const Loaded> digits();
std::vector<NamedValues> digitsData();

/// The model of an ONNX file's bytes.
std::shared_ptr<const Loaded> modelFrom(std::string bytes);
/// One data set of all its inputs, from seeds.
std::vector<NamedValues> seeded(const Loaded& loaded);

/// Runs on this computer; `onFile` may change the bytes of the program's file before.
ProgramRunner runHere(std::function<void(std::string& bytes)> onFile = {});

/// A request that compares the model at level 3 with itself at level 0.
CompareRequest requestFor(std::shared_ptr<const Loaded> loaded, std::vector<NamedValues> sets,
                          ExecutorKind executor = ExecutorKind::Aot);

/// The call in the middle whose kernel nobody else calls, and that computes.
size_t victimOf(const CompileResult& built);
/// The bytes of the largest constant that a call reads.
std::string weightBytes(const CompileResult& built, size_t call);
/// Flips the highest bit of the exponent of a weight in the middle, wherever `weight` lies in a
/// file; counts in `flipped`.
std::function<void(std::string& bytes)> flipIn(std::string weight, size_t& flipped);

/// Three convolutions as text; with `scales`, each result in 8 bits, as the input and the weights
/// are.
std::string convolutions(const std::vector<double>& scales);

enum class KernelFault : uint8_t
{
    WrongSchedule, ///< the first loop that can misses its last round
    WrongFormula,  ///< results are a quarter too large
    SlightlyLarge  ///< results are a 1024th too large
};

/// Generates code as ever, but of the kernel whose TIR has that hash with a fault.
std::shared_ptr<KernelService> faultyService(const std::string& tirHash, KernelFault fault);

} // namespace tenon::test
