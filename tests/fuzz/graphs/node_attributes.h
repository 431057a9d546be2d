// SPDX-License-Identifier: Apache-2.0
// Setting the attributes of ONNX nodes that are written in code.
#pragma once

#include "compiler/frontend/onnx/onnx.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::test {

using Dims = std::vector<int64_t>;

void setInts(tenon_onnx::NodeProto& node, const std::string& name, const Dims& values);
void setInt(tenon_onnx::NodeProto& node, const std::string& name, int64_t value);
void setFloat(tenon_onnx::NodeProto& node, const std::string& name, double value);
void setText(tenon_onnx::NodeProto& node, const std::string& name, const std::string& value);

} // namespace tenon::test
