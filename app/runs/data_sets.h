// SPDX-License-Identifier: Apache-2.0
// Folders in ONNX's backend-test layout: the model, its data sets, and the model as the data want
// it.
#pragma once

#include "app/runs/data_bindings.h"

namespace tenon::runs {

/// The model of a case: `model` with the suffix of an importer; "" where there is none.
std::string modelIn(const std::string& folder);

/// Tensors of input_0.pb, input_1.pb, ... or output_*.pb.
Result<GivenTensors> readSet(const std::string& folder, const std::string& stem);

/// test_data_set_0, test_data_set_1, ... as far as there are any.
std::vector<std::string> dataSetsIn(const std::string& folder);

/// The model with the shapes of the data and the values that the import wants to know; `bindings`
/// takes them up.
Result<compiler::Loaded> loadForData(const std::string& model, const GivenTensors& inputs,
                                     compiler::ImportOptions& bindings);

} // namespace tenon::runs
