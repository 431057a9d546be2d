// SPDX-License-Identifier: Apache-2.0
// What a .tflite file says about itself.
#pragma once

#include "compiler/frontend/loaded.h"
#include "compiler/frontend/tflite/file/tflite_model.h"

namespace tenon::compiler {

ModelFacts tfliteFactsOf(const TfliteModel& model);
/// `isOpen`: sizes that the file leaves open have names; else they are as it stores them.
ValueFacts valueFactsOf(const TfliteTensor& tensor, bool isOpen);
/// The operator at `index` of the graph, named after its first result.
SourceNode sourceOf(const TfliteSubgraph& graph, size_t index);

} // namespace tenon::compiler
