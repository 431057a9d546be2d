// SPDX-License-Identifier: Apache-2.0
// Broadcasts pair dimensions by position from the end; squeezed dimensions are 1; products, joins
// and updates pair the dimensions that they walk along together.
#include "compiler/ops/size_checks.h"

#include "compiler/ops/chosen_axes.h"
#include "compiler/ops/op.h"
#include "core/tensor/dim_bounds.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

/// The checks of one node.
class Checks
{
public:
    Checks(const Module& module, const NodeRecord& node)
        : m_module(module)
        , m_node(node)
    {
    }

    std::vector<SizeCheck> run(const OpDef& op)
    {
        addBroadcasts(op);
        if (m_node.op == "squeeze") addSqueezed();
        if (m_node.op == "reshape") addEqual(product(shape(0)), product(result()));
        if (m_node.op == "topk") addTopK();
        if (m_node.op == "concatenate") addJoin();
        if (m_node.op == "nn.matmul") addMatmul();
        if (m_node.op == "einsum") addLetters();
        if (m_node.op == "nn.dense" || m_node.op == "nn.contrib_dense_pack")
            addEqual(shape(0).at(1), shape(1).at(1));
        if (m_node.op == "nn.conv" || m_node.op == "nn.conv2d")
            addEqual(shape(0).at(1), shape(1).at(1) * Dim(m_node.attrs.integer("groups", 1)));
        if (m_node.op == "nn.conv2d_transpose") addEqual(shape(0).at(1), shape(1).at(0));
        if (m_node.op == "nn.batch_norm") addChannels();
        if (m_node.op == "vision.non_max_suppression") addBoxes();
        addChoices();
        if (m_node.op == "gather" || m_node.op == "scatter_elements") addAlong();
        if (m_node.op == "scatter_elements") addSame(shape(1), shape(2));
        if (m_node.op == "gather_nd") addBatch();
        if (m_node.op == "scatter_nd") addUpdates();
        if (m_node.op == "nn.rnn" || m_node.op == "nn.gru" || m_node.op == "nn.lstm")
            for (size_t operand = 2; operand < m_node.operands.size(); ++operand)
                if (has(operand) && !isPerUnit(operand))
                    addEqual(shape(operand).at(0), shape(0).at(1));
        return std::move(m_checks);
    }

private:
    /// Of recurrent operators; the other operands from the states on have a row or element per
    /// sequence.
    bool isPerUnit(size_t operand) const
    {
        return operand == (m_node.op == "nn.lstm" ? 5 : 4) && m_node.op != "nn.rnn";
    }
    bool has(size_t operand) const
    {
        return operand < m_node.operands.size() && m_node.operands[operand].node.isValid();
    }
    const Shape& shape(size_t operand) const
    {
        return m_module.type(m_node.operands.at(operand)).shape;
    }
    const Shape& result() const { return m_node.types.at(0).shape; }

    void addEqual(const Dim& a, const Dim& b, int axis = -1)
    {
        const bool isKnown = a.isConst() && b.isConst();
        if (!isKnown && !(a == b)) m_checks.push_back({a, b, SizeCheck::Equal, axis});
    }

    void addBoxes()
    {
        addEqual(shape(0).at(0), shape(1).at(0));
        addEqual(shape(0).at(1), shape(1).at(2));
    }

    void addChannels()
    {
        int64_t axis = m_node.attrs.integer("axis", 1);
        if (axis < 0) axis += static_cast<int64_t>(shape(0).size());
        for (size_t i = 1; i < m_node.operands.size(); ++i)
            addEqual(shape(i).at(0), shape(0).at(static_cast<size_t>(axis)));
    }

    void addTopK()
    {
        int64_t axis = m_node.attrs.integer("axis", -1);
        if (axis < 0) axis += static_cast<int64_t>(result().size());
        addAtMost(result().at(static_cast<size_t>(axis)), shape(0).at(static_cast<size_t>(axis)));
    }

    void addAtMost(const Dim& a, const Dim& b)
    {
        const bool isKnown = a.isConst() && b.isConst();
        if (!isKnown && !(a == b)) m_checks.push_back({a, b, SizeCheck::AtMost});
    }

    /// Indices, where there are any, choose from axes that are not empty.
    void addChoices()
    {
        if (m_node.operands.size() < 2 || !has(1)) return;
        for (const size_t axis : chosenAxes(m_node.op, m_node.attrs, shape(0), shape(1))) {
            const Dim& extent = shape(0).at(axis);
            if (extent.isConst() && extent.value() > 0) continue;
            const Dim count = choiceCount(m_node.op, shape(1));
            m_checks.push_back({count, count * extent, SizeCheck::AtMostOf});
        }
    }

    /// Indices stay inside the data along the axes that they do not choose from.
    void addAlong()
    {
        int64_t axis = m_node.attrs.integer("axis", 0);
        if (axis < 0) axis += static_cast<int64_t>(shape(0).size());
        for (size_t d = 0; d < shape(0).size(); ++d)
            if (static_cast<int64_t>(d) != axis) addAtMost(shape(1).at(d), shape(0)[d]);
    }

    void addBatch()
    {
        const auto batch = static_cast<size_t>(m_node.attrs.integer("batch_dims", 0));
        for (size_t d = 0; d < batch; ++d) addAtMost(shape(1).at(d), shape(0).at(d));
    }

    void addUpdates()
    {
        const Shape &data = shape(0), &indices = shape(1);
        Shape wanted(indices.begin(), indices.end() - 1);
        wanted.insert(wanted.end(), data.begin() + indices.back().value(), data.end());
        addSame(shape(2), wanted);
    }

    void addSame(const Shape& a, const Shape& b)
    {
        for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) addEqual(a[i], b[i]);
    }

    void addBroadcasts(const OpDef& op)
    {
        const bool isMatmul = m_node.op == "nn.matmul";
        // With an axis, operands do not stand right-aligned; their typing asks for equality.
        const bool hasAxis = std::any_of(op.attrs.begin(), op.attrs.end(),
                                         [](const AttrSpec& attr) { return attr.name == "axis"; });
        if (!isMatmul && !(op.pattern <= Pattern::Broadcast && !hasAxis) &&
            m_node.op != "broadcast_to")
            return;
        for (size_t i = 0; i < m_node.operands.size(); ++i)
            if (has(i)) addBroadcast(shape(i), isMatmul ? 2 : 0);
    }

    /// Leaves out the last `skipped` dimensions, which do not broadcast.
    void addBroadcast(const Shape& operand, size_t skipped)
    {
        for (size_t i = skipped; i < std::min(operand.size(), result().size()); ++i) {
            const Dim& a = operand[operand.size() - 1 - i];
            const Dim& b = result()[result().size() - 1 - i];
            const bool isKnown = a.isConst() && b.isConst();
            if (!isKnown && !(a == b) && !(a == Dim(1)))
                m_checks.push_back(
                    {a, b, SizeCheck::OneOrEqual, static_cast<int>(result().size() - 1 - i)});
        }
    }

    void addSqueezed()
    {
        for (int64_t axis : m_node.attrs.integers("axis", {})) {
            if (axis < 0) axis += static_cast<int64_t>(shape(0).size());
            addEqual(shape(0).at(static_cast<size_t>(axis)), Dim(1));
        }
    }

    void addJoin()
    {
        int64_t axis = m_node.attrs.integer("axis", 0);
        if (axis < 0) axis += static_cast<int64_t>(result().size());
        for (size_t i = 0; i < m_node.operands.size(); ++i)
            for (size_t d = 0; d < result().size(); ++d)
                if (static_cast<int64_t>(d) != axis)
                    addEqual(shape(i).at(d), result()[d], static_cast<int>(d));
    }

    void addMatmul()
    {
        const size_t rankA = shape(0).size(), rankB = shape(1).size();
        const bool flipsA = m_node.attrs.integer("transpose_a", 0) != 0;
        const bool flipsB = m_node.attrs.integer("transpose_b", 0) != 0;
        addEqual(shape(0).at(rankA - (flipsA ? 2 : 1)), shape(1).at(rankB - (flipsB ? 1 : 2)));
    }

    /// Every letter of an einsum is one size, of which an operand may have 1.
    void addLetters()
    {
        const std::string equation = m_node.attrs.string("equation", "");
        std::map<char, Dim> sizes;
        size_t operand = 0, axis = 0;
        for (const char c : equation.substr(0, equation.find("->"))) {
            if (c == ',') {
                ++operand;
                axis = 0;
                continue;
            }
            const Dim& dim = shape(operand).at(axis++);
            const auto [known, isNew] = sizes.emplace(c, dim);
            if (known->second == Dim(1)) known->second = dim;
            if (!isNew && !(dim == Dim(1))) addEqual(dim, known->second);
        }
    }

    const Module& m_module;
    const NodeRecord& m_node;
    std::vector<SizeCheck> m_checks;
};

} // namespace

std::vector<SizeCheck> sizeChecks(const Module& module, const NodeRecord& node)
{
    const OpDef* op = node.kind == NodeKind::Op ? findOp(node.op) : nullptr;
    if (!op) return {};
    return Checks(module, node).run(*op);
}

} // namespace tenon::compiler
