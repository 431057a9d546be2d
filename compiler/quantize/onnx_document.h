// SPDX-License-Identifier: Apache-2.0
// An ONNX model that is going to be rewritten: the whole message, with its weights inside.
#pragma once

#include "compiler/frontend/loaded.h"
#include "compiler/frontend/onnx/onnx.pb.h"
#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <string>

namespace tenon::compiler {

using namespace core;

/// Of an ONNX file, or of a TensorFlow Lite file of floats as ONNX would have it.
/// Weights come from the file and from external files; calls of functions are replaced by their
/// nodes, and every node has a name. Errors: BadModel, and what opening says.
/// Sizes that the options bind are those that it declares.
Result<tenon_onnx::ModelProto> readOnnxDocument(const std::string& path,
                                                const ImportOptions& sizes = {});

/// The version of ai.onnx; 1 where none is named.
int64_t opsetOf(const tenon_onnx::ModelProto& model);
void setOpset(tenon_onnx::ModelProto& model, int64_t version);

/// A constant whose data lie in the message.
Result<Tensor> tensorOf(const tenon_onnx::TensorProto& proto);
void storeTensor(const Tensor& tensor, const std::string& name, tenon_onnx::TensorProto& proto);

/// Some files write -1 where a size is open.
inline bool isFixed(const tenon_onnx::TensorShapeProto::Dimension& dim)
{
    return dim.has_dim_value() && dim.dim_value() >= 0;
}

const tenon_onnx::AttributeProto* attributeOf(const tenon_onnx::NodeProto& node,
                                              std::string_view name);
int64_t integerOf(const tenon_onnx::NodeProto& node, std::string_view name, int64_t otherwise);
float floatOf(const tenon_onnx::NodeProto& node, std::string_view name, float otherwise);
std::vector<int64_t> integersOf(const tenon_onnx::NodeProto& node, std::string_view name);
void eraseAttribute(tenon_onnx::NodeProto& node, std::string_view name);
void setInteger(tenon_onnx::NodeProto& node, const std::string& name, int64_t value);
void setIntegers(tenon_onnx::NodeProto& node, const std::string& name,
                 const std::vector<int64_t>& values);
void setString(tenon_onnx::NodeProto& node, const std::string& name, const std::string& value);
void setStrings(tenon_onnx::NodeProto& node, const std::string& name,
                const std::vector<std::string>& values);
void setFloats(tenon_onnx::NodeProto& node, const std::string& name,
               const std::vector<float>& values);
void setFloat(tenon_onnx::NodeProto& node, const std::string& name, float value);

} // namespace tenon::compiler
