// SPDX-License-Identifier: Apache-2.0
// GraphBuilder: values of known shape, and nodes on them, for random graphs.
#pragma once

#include "tests/fuzz/graphs/node_attributes.h"
#include "tests/fuzz/graphs/random_graph.h"

#include <algorithm>
#include <random>
#include <string>

namespace tenon::test {

struct GraphValue
{
    std::string name;
    core::DataType dtype;
    Dims shape;
    bool isExact = true; ///< not rounded: comparisons of it do not depend on the evaluation
};

class GraphBuilder
{
public:
    explicit GraphBuilder(uint64_t seed);

    int64_t pick(int64_t low, int64_t high); ///< inclusive
    bool chance(int percent) { return pick(1, 100) <= percent; }
    /// A float32 value made so far.
    GraphValue anyValue();
    /// One of this rank; a new input when there is none.
    GraphValue valueOfRank(size_t rank);
    /// One that is not rounded; a new input of the shape when the drawn one is.
    GraphValue exactValue();
    GraphValue addInput(Dims shape, core::DataType dtype = core::kFloat32);
    /// Random constant in [low, high].
    GraphValue addConstant(Dims shape, double low = -1, double high = 1);
    /// The same of whole numbers of a type.
    GraphValue addWhole(core::DataType dtype, Dims shape, int64_t low, int64_t high);
    GraphValue addIntegers(const std::vector<int64_t>& values, bool isScalar = false);

    tenon_onnx::NodeProto& addNode(const std::string& op, const std::vector<GraphValue>& inputs,
                                   const std::vector<std::string>& outputs);
    /// Adds a node of one result and remembers the result.
    tenon_onnx::NodeProto& apply(const std::string& op, const std::vector<GraphValue>& inputs,
                                 Dims shape, bool isExact = false);
    /// The same for a result of another type.
    tenon_onnx::NodeProto& applyTyped(const std::string& op, const std::vector<GraphValue>& inputs,
                                      core::DataType dtype, Dims shape, bool isExact = false);
    /// The value as another type.
    GraphValue cast(const GraphValue& value, core::DataType dtype);
    void remember(GraphValue value) { m_values.push_back(std::move(value)); }
    std::string newName() { return "v" + std::to_string(m_names++); }
    const GraphValue& last() const { return m_values.back(); }

    void markVm() { m_graph.needsVm = true; }
    /// Rounding in steps: results may differ by this share of the largest value.
    void allow(double tolerance) { m_graph.tolerance = std::max(m_graph.tolerance, tolerance); }
    int opset() const { return m_opset; }
    bool hasNodes() { return graph().node_size() > 0; }
    RandomGraph finish();

private:
    tenon_onnx::GraphProto& graph() { return *m_graph.model.mutable_graph(); }

    std::mt19937_64 m_random;
    int m_opset = 17;
    RandomGraph m_graph;
    std::vector<GraphValue> m_values;
    int m_names = 0;
};

using NodeKind = void (*)(GraphBuilder&);

/// Adds one node (or a few) of a random kind.
void addRandomNode(GraphBuilder& builder);
// The same of one family.
void addVmNode(GraphBuilder& builder); ///< what only the VM runs
void addTypedNode(GraphBuilder& builder);
void addIndexNode(GraphBuilder& builder);
void addMathNode(GraphBuilder& builder);
void addWindowNode(GraphBuilder& builder);
void addImageNode(GraphBuilder& builder);
void addNormalizationNode(GraphBuilder& builder);
void addRecurrentNode(GraphBuilder& builder);
void addQuantizedNode(GraphBuilder& builder);
void addCompositeNode(GraphBuilder& builder);

} // namespace tenon::test
