// SPDX-License-Identifier: Apache-2.0
// A TensorFlow Lite model as an ONNX message beside our import of the file.
#pragma once

#include "compiler/frontend/onnx/onnx.pb.h"
#include "core/base/result.h"
#include "core/tensor/tensor.h"
#include "tests/support/tflite_writer.h"

#include <map>

namespace tenon::test {

/// What is wrong with a result; "": nothing.
std::string differenceOf(const core::Tensor& got, const core::Tensor& wanted);

/// The message of the file, whose results on these inputs are those of the import; on random floats
/// for inputs that are not named. Throws what is wrong.
tenon_onnx::ModelProto sameDocument(const TfliteWriter& file,
                                    std::map<std::string, core::Tensor> inputs = {});
/// Why there is no message.
std::string refusalOf(const TfliteWriter& file);

/// How many nodes of the message are of this operator.
int countOf(const tenon_onnx::ModelProto& model, const std::string& op);

} // namespace tenon::test
