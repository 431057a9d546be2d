// SPDX-License-Identifier: Apache-2.0
// What data say about a model before it is compiled: shapes, and values that the
// import wants to know.
#pragma once

#include "app/runs/given_tensors.h"
#include "compiler/frontend/loaded.h"

#include <string>
#include <vector>

namespace tenon::runs {

/// The shapes of the data for every input whose shape the model leaves open; sizes for which bounds
/// are given stay open.
void bindShapes(const compiler::Loaded& loaded, const GivenTensors& given,
                compiler::ImportOptions& options);
/// Fixes inputs that the import wants to know (axes, shapes, counts) to what the data holds; such
/// values are short. False when there is nothing to fix.
bool fixValues(const compiler::Loaded& loaded, const std::vector<std::string>& names,
               const GivenTensors& given, compiler::ImportOptions& options);
/// The inputs that can hold shapes, axes or counts.
std::vector<std::string> integerInputs(const compiler::ModelFacts& facts);
/// The bindings as options of the command line: "--shape", "x=1,3,224,224", ...
std::vector<std::string> bindingsText(const compiler::ImportOptions& options);
/// What is given of the values that the compiled model contains is not given to it again.
GivenTensors withoutFixed(const compiler::ModelFacts& facts, const GivenTensors& given,
                          const compiler::ImportOptions& options);

} // namespace tenon::runs
