// SPDX-License-Identifier: Apache-2.0
// A model as one ONNX file that other tools read.
#pragma once

#include "compiler/frontend/loaded.h"
#include "core/base/result.h"

#include <set>
#include <string>

namespace tenon::compiler {

struct ConvertedModel
{
    size_t bytes = 0; ///< of the file
    int nodes = 0;
    std::set<std::string> operators;
    int64_t opset = 0; ///< version of ai.onnx
};

/// Writes an ONNX model or a TensorFlow Lite model of floats to `output`: weights inside, functions
/// as their nodes, what the options bind bound. Errors: those of readOnnxDocument(), BadArgument
/// where `output` is the model itself, UnsupportedFeature beyond 2 GiB, at which an ONNX file ends.
Result<ConvertedModel> convertToOnnx(const std::string& path, const ImportOptions& options,
                                     const std::string& output);

} // namespace tenon::compiler
