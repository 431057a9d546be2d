// SPDX-License-Identifier: Apache-2.0
// The main graph of an ONNX model by its tensors: who makes them, who reads them, which are
// constants, which are 32-bit floats.
#pragma once

#include "compiler/quantize/onnx_document.h"

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace tenon::compiler {

/// A view: rebuild it after the graph was changed.
class FloatGraph
{
public:
    explicit FloatGraph(const tenon_onnx::GraphProto& graph);

    const tenon_onnx::GraphProto& proto() const { return *m_graph; }
    const tenon_onnx::NodeProto& node(int index) const { return m_graph->node(index); }
    int nodeCount() const { return m_graph->node_size(); }

    int producer(const std::string& tensor) const; ///< index of the node; -1: none
    /// Nodes of this graph that read it, each once, in order; bodies of their attributes count.
    const std::vector<int>& consumers(const std::string& tensor) const;
    bool isResult(const std::string& tensor) const { return m_results.contains(tensor); }
    bool isInput(const std::string& tensor) const { return m_inputs.contains(tensor); }
    /// Read by a body of control flow, by name.
    bool isCaptured(const std::string& tensor) const { return m_captured.contains(tensor); }
    bool isConstant(const std::string& tensor) const { return m_constants.contains(tensor); }
    /// Its value; null for what is no constant or cannot be read.
    const Tensor* constant(const std::string& tensor) const;
    bool isFloat32(const std::string& tensor) const;
    /// The only node that reads it, if it is no result; -1 otherwise.
    int onlyConsumer(const std::string& tensor) const;

private:
    void addConstants();
    void addReaders(const tenon_onnx::GraphProto& graph, int node);
    void addTypes();
    int32_t resultType(const tenon_onnx::NodeProto& node) const;

    const tenon_onnx::GraphProto* m_graph;
    std::unordered_map<std::string, int> m_producers;
    std::unordered_map<std::string, std::vector<int>> m_consumers;
    std::vector<int> m_nobody;
    std::set<std::string> m_results, m_inputs, m_captured;
    std::unordered_map<std::string, const tenon_onnx::TensorProto*> m_constants;
    mutable std::map<std::string, Tensor> m_values;
    std::unordered_map<std::string, int32_t> m_types;
};

} // namespace tenon::compiler
