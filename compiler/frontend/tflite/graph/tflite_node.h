// SPDX-License-Identifier: Apache-2.0
// TfliteNode: an operator of a .tflite graph with its options, the quantization of its tensors, and
// their two layouts: the file's order (NHWC), and channels first as our picture operators want it.
#pragma once

#include "compiler/frontend/import/node_import.h"
#include "compiler/frontend/tflite/file/tflite_model.h"

#include <set>
#include <unordered_map>

namespace tenon::compiler {

/// Values of rank 4 that are known in both layouts. What moves between them is removed again where
/// nobody reads it, so a chain of picture operators stays channels first throughout.
struct ChannelsFirst
{
    std::unordered_map<ValueRef, ValueRef> first; ///< by the value in the file's order
    std::set<NodeId> moves;
};

class TfliteNode : public NodeImport
{
public:
    TfliteNode(GraphState& state, ChannelsFirst& layouts, const TfliteSubgraph& graph,
               const TfliteOperator& op, SourceId source);

    const TfliteOperator& file() const { return m_operator; }

    // Options by their number in the schema.
    int64_t integer(int field, int64_t fallback = 0) const;
    int64_t byte(int field, int64_t fallback = 0) const;
    bool flag(int field, bool fallback = false) const;
    double number(int field, double fallback = 0) const;
    std::vector<int64_t> integers(int field) const;

    /// The tensors as the file declares them; null when absent.
    const TfliteTensor* inputTensor(size_t input) const;
    const TfliteTensor* outputTensor(size_t output) const;
    const TfliteTensor* intermediate(size_t index) const;
    /// True for integers that stand for real values.
    bool isQuantized(size_t input);
    bool isOutputQuantized(size_t output) const;
    std::optional<DataType> outputType(size_t output) const;
    /// True for complex numbers: floats here, whose last axis are the real and the imaginary part.
    bool isComplex(size_t input) const;
    /// Of the input as the file counts it, which has no axis for the parts of complex numbers.
    int64_t fileRank(size_t input);

    // Layouts.
    bool isChannelsFirst(size_t input);
    /// Input of rank 4 as [N, C, H, W].
    ValueRef channelsFirst(size_t input);
    ValueRef toChannelsFirst(ValueRef value);
    ValueRef toChannelsLast(ValueRef value);
    /// A result that is channels first.
    void outputChannelsFirst(size_t output, ValueRef value);
    /// What a failed converter emitted is known no longer.
    void forgetLayouts();

private:
    const TfliteTensor* tensorAt(const std::vector<int64_t>& ids, size_t index) const;
    ValueRef moved(ValueRef value, const std::vector<int64_t>& order);

    const TfliteSubgraph& m_graph;
    const TfliteOperator& m_operator;
    ChannelsFirst& m_layouts;
    std::vector<ValueRef> m_keys; ///< this node added to m_layouts
};

/// The names of an operator's tensors; "" for absent ones and for variables, which start anew.
std::vector<std::string> namesOf(const TfliteSubgraph& graph, const std::vector<int64_t>& ids);

} // namespace tenon::compiler
