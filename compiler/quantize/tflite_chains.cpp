// SPDX-License-Identifier: Apache-2.0
// Following a result to its only reader.
#include "compiler/quantize/tflite_chains.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

class ChainWalk
{
public:
    ChainWalk(const TfliteSubgraph& graph, const TfliteOperator& first)
        : m_graph(graph)
        , m_at(&first)
    {
    }

    std::optional<BlockChain> walk()
    {
        BlockChain out{.isSequence = rankAt(m_at->inputs[0]) == 3};
        if (out.isSequence && (!step() || !isShape(4) || !findAxis(out))) return std::nullopt;
        if (out.isSequence) out.between.push_back(m_at);
        if (!step() || !isConvolution()) return std::nullopt;
        out.conv = m_at;
        out.between.push_back(m_at);
        if (out.isSequence && (!step() || !isShape(3))) return std::nullopt;
        if (out.isSequence) out.between.push_back(m_at);
        if (!step() || m_at->name != "BATCH_TO_SPACE_ND") return std::nullopt;
        out.last = m_at;
        return out;
    }

private:
    const TfliteTensor& tensor(int64_t index) const
    {
        return m_graph.tensors.at(static_cast<size_t>(index));
    }
    size_t rankAt(int64_t index) const { return tensor(index).shape.size(); }
    int64_t result() const { return m_at->outputs[0]; }

    /// To the operator that alone reads the result, as its first input.
    bool step()
    {
        if (result() < 0) return false;
        const auto& ends = m_graph.outputs;
        if (std::find(ends.begin(), ends.end(), result()) != ends.end()) return false;
        const TfliteOperator* found = nullptr;
        for (const TfliteOperator& op : m_graph.operators) {
            const auto times = std::count(op.inputs.begin(), op.inputs.end(), result());
            if (times > 1 || (times == 1 && found)) return false;
            if (times == 1) found = &op;
        }
        if (!found || found->inputs[0] != result() || found->outputs.size() != 1 ||
            found->outputs[0] < 0)
            return false;
        m_at = found;
        return true;
    }

    bool isShape(size_t rank) const
    {
        const std::string& op = m_at->name;
        return (op == "EXPAND_DIMS" || op == "RESHAPE" || op == "SQUEEZE") &&
               rankAt(result()) == rank;
    }

    bool isConvolution() const
    {
        return (m_at->name == "CONV_2D" || m_at->name == "DEPTHWISE_CONV_2D") &&
               rankAt(result()) == 4 && m_at->inputs.size() > 1 && m_at->inputs[1] >= 0 &&
               rankAt(m_at->inputs[1]) == 4;
    }

    /// [batch, 1, time, channels] or [batch, time, 1, channels].
    bool findAxis(BlockChain& out) const
    {
        const std::vector<int64_t>&from = tensor(m_at->inputs[0]).shape,
              &to = tensor(result()).shape;
        out.axis = to[1] == 1 ? 1 : 0;
        return to[2 - out.axis] == 1 && to[1 + out.axis] == from.at(1) && to[3] == from.at(2);
    }

    const TfliteSubgraph& m_graph;
    const TfliteOperator* m_at;
};

} // namespace

std::optional<BlockChain> blockChainFrom(const TfliteSubgraph& graph, const TfliteOperator& first)
{
    const int64_t data = first.inputs.empty() ? -1 : first.inputs[0];
    if (data < 0 || first.outputs.empty()) return std::nullopt;
    const size_t rank = graph.tensors.at(static_cast<size_t>(data)).shape.size();
    return rank == 3 || rank == 4 ? ChainWalk(graph, first).walk() : std::nullopt;
}

} // namespace tenon::compiler
