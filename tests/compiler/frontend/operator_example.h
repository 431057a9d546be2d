// SPDX-License-Identifier: Apache-2.0
// Models of one node each, from operator_examples.txt: for the manual's table and for mutation.
#pragma once

#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/onnx.pb.h"

#include <string>
#include <vector>

namespace tenon::test {

/// One line of the file.
struct OperatorExample
{
    std::string op; ///< with its domain when it is not ai.onnx
    int since = 0;  ///< for converter rows from this opset on
    std::vector<std::string> words;
};

/// Throws when the file is missing.
std::vector<OperatorExample> readOperatorExamples(const std::string& path);
/// The example for a converter row; throws when there is none.
const OperatorExample& exampleFor(const std::vector<OperatorExample>& all,
                                  const compiler::Converter& row);
/// A model whose node `n` is the row's operator on operands of `onnxType` (TensorProto.DataType).
tenon_onnx::ModelProto exampleModel(const OperatorExample& example, const compiler::Converter& row,
                                    int32_t onnxType);

} // namespace tenon::test
