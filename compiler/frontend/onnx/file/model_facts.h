// SPDX-License-Identifier: Apache-2.0
// What an ONNX file says about itself, and the names its nodes get.
#pragma once

#include "compiler/frontend/loaded.h"
#include "compiler/frontend/onnx/onnx.pb.h"

#include <set>

namespace tenon::compiler {

ModelFacts factsOf(const tenon_onnx::ModelProto& model);

/// Declared type of a value; hasShape is false for unknown rank and for what is no tensor.
ValueFacts valueFactsOf(const tenon_onnx::ValueInfoProto& info);

/// Name, operator and scope of node number `index`; a nameless node gets "<Op>_<index>".
SourceNode sourceOf(const tenon_onnx::NodeProto& node, size_t index);

/// "ai.onnx" for the empty domain.
std::string domainText(const std::string& domain);

/// Names of initializers, dense and sparse.
std::set<std::string> initializerNames(const tenon_onnx::GraphProto& graph);

} // namespace tenon::compiler
