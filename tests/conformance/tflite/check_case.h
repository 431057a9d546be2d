// SPDX-License-Identifier: Apache-2.0
// One case as we run it, against what TensorFlow Lite gave.
#pragma once

#include "compiler/driver/compile.h"
#include "tests/conformance/tflite/tflite_case.h"

namespace tenon::test {

/// How far results are off.
struct Outcome
{
    std::string refusal;           ///< why it does not run here; empty: it does
    std::string fault;             ///< another type or shape, no number; empty: there is none
    double steps = 0;              ///< the largest difference of integers
    double error = 0;              ///< the largest one of floats, as a share of the largest element
    int64_t elements = 0, off = 0; ///< integers, and those that differ

    void add(const Outcome& other);
};

/// What the case's results should be.
struct Reference
{
    std::vector<core::Tensor> results; ///< none: TensorFlow Lite refuses the case
    std::string refusal;
};

/// The folder of a case, "ADD.int8.07": unique and sorted like the list.
std::vector<std::string> foldersOf(const TfliteCases& all);
core::Status writeCase(const TfliteCase& one, const std::string& folder);
/// Errors: what reading its files gives.
core::Result<Reference> readReference(const TfliteCase& one, const std::string& folder);

/// The definitions of our operators, in this process.
Outcome checkDefinition(const TfliteCase& one, const Reference& reference, core::JobContext& job);
/// Compiled and run in a child. Without a reference it is held to our definitions.
Outcome checkCompiled(const TfliteCase& one, const Reference& reference,
                      const compiler::CompileOptions& options, core::JobContext& job);

} // namespace tenon::test
