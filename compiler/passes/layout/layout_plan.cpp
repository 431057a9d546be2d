// SPDX-License-Identifier: Apache-2.0
// From a function to a graph of choices, and back.
#include "compiler/passes/layout/layout_plan.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/layout/broadcast_operand.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/slice_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

namespace tenon::compiler {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// The widest blocks are kept unless others are a tenth cheaper: the model knows no more.
constexpr double kMargin = 1.1;

bool isReduction(const NodeRecord& node)
{
    return factsOf(node).blockedForm == BlockedForm::ByReduction;
}

/// True when rows and columns go away: what is left has the same bytes in either layout.
bool reducesPixels(const NodeRecord& node)
{
    if (!isReduction(node)) return false;
    const std::vector<int64_t> axes = node.attrs.integers("axis", {});
    return axes.size() == 2 && std::all_of(axes.begin(), axes.end(), [](int64_t axis) {
               return normalizedAxis(axis, 4) >= 2;
           });
}

/// Operators that take one tensor in any blocks of channels and leave them as they are.
bool keepsBlocks(const Module& module, const NodeRecord& node)
{
    if (factsOf(node).blockedForm == BlockedForm::ByLayout)
        return node.attrs.string("layout", "NCHW") == "NCHW";
    const auto leavesChannels = [&](const char* attr) {
        const std::vector<int64_t> axes = node.attrs.integers(attr, {});
        return std::none_of(axes.begin(), axes.end(),
                            [](int64_t axis) { return normalizedAxis(axis, 4) < 2; });
    };
    if (isReduction(node)) return node.attrs.integer("keepdims", 0) != 0 && leavesChannels("axis");
    if (isOp(node, stridedSliceOp)) return leavesChannels("axes");
    if (isOneOf(node, cutPatchesOp, joinPatchesOp, stackFramesOp, stackPhasesOp, unstackPhasesOp))
        return true;
    return isOp(node, padOp) && node.types[0].shape.size() == 4 &&
           node.types[0].shape[1] == module.type(node.operands[0]).shape[1];
}

/// Operators that put images of equal channels together, whatever blocks these have.
bool joinsImages(const NodeRecord& node) { return isOneOf(node, joinPhasesOp, joinFramesOp); }

bool isElementwise(const NodeRecord& node)
{
    const OpDef* op = findOp(node.op);
    return op && !node.operands.empty() && compiler::isElementwise(*op);
}

/// Transformations between blocks of so many channels, by way of planes; 0: those.
double movesBetween(int64_t from, int64_t to)
{
    if (from == to) return 0;
    return from != 0 && to != 0 ? 2 : 1;
}

/// Comparisons of floats stand in the blocks of these: between them and what is chosen by them
/// nothing is moved (activations that exporters write with Where, ELU).
bool followsFloats(DataType dtype) { return dtype == kFloat32 || dtype == kBool; }

} // namespace

LayoutPlan::LayoutPlan(const Module& module, const GraphFunction& function,
                       const LayoutMachine& machine, const ErrorBudget& budget)
    : m_module(module)
    , m_function(function)
    , m_machine(machine)
    , m_budget(budget)
{
    joinValues();
    addClasses();
    addCosts();
    std::vector<size_t> widest(m_blocks.size(), 0);
    for (size_t i = 0; i < m_blocks.size(); ++i)
        if (m_hasConvolution[i] && m_blocks[i].size() > 1) widest[i] = 1;
    m_choice = m_graph.solve(widest);
}

void LayoutPlan::joinValues()
{
    std::vector<NodeId> nodes = m_function.params;
    nodes.insert(nodes.end(), m_function.order.begin(), m_function.order.end());
    for (const NodeId id : nodes) {
        const NodeRecord& node = m_module.node(id);
        if (node.kind == NodeKind::Constant) continue;
        for (uint32_t i = 0; i < node.types.size(); ++i) {
            const Shape& shape = node.types[i].shape;
            if (shape.size() != 4 || !constantShape({shape.begin() + 1, shape.end()})) continue;
            m_index[{id, i}] = m_values.size();
            m_parent.push_back(m_values.size());
            m_values.push_back({id, i});
        }
        if (node.kind == NodeKind::Op && node.types.size() == 1) joinWithOperands(node);
    }
}

void LayoutPlan::joinWithOperands(const NodeRecord& node)
{
    const ValueRef result{node.id, 0};
    if (!m_index.count(result)) return;
    if (keepsBlocks(m_module, node)) return join(result, node.operands[0]);
    if (!isElementwise(node) && !joinsImages(node)) return;
    for (const ValueRef operand : node.operands)
        if (m_index.count(operand) && m_module.type(operand).shape[1] == node.types[0].shape[1])
            join(result, operand);
}

size_t LayoutPlan::rootOf(size_t value) const
{
    while (m_parent[value] != value) value = m_parent[value];
    return value;
}

void LayoutPlan::join(ValueRef a, ValueRef b)
{
    const auto x = m_index.find(a), y = m_index.find(b);
    if (x == m_index.end() || y == m_index.end()) return;
    const size_t p = rootOf(x->second), q = rootOf(y->second);
    m_parent[std::max(p, q)] = std::min(p, q);
}

int64_t LayoutPlan::naturalBlock(ValueRef value) const
{
    const TensorType& type = m_module.type(value);
    // Sums of products of bytes lie in the blocks of the bytes that they become.
    const bool isQuantized = type.dtype == kUInt8 || type.dtype == kInt8 || type.dtype == kInt32;
    if (!followsFloats(type.dtype) && !isQuantized) return 0;
    const bool hasOwnLanes = isQuantized && m_machine.byteLanes > 0;
    const int64_t channels = type.shape[1].value();
    return hasOwnLanes ? byteBlock(channels, m_machine.byteLanes, m_machine.facts)
                       : channelBlock(channels, m_machine.lanes);
}

/// Options of a class: plain, then blocks from the widest. Quantized values have no choice.
void LayoutPlan::addClasses()
{
    for (size_t i = 0; i < m_values.size(); ++i) {
        const ValueRef value = m_values[i];
        const int64_t natural = naturalBlock(value);
        const size_t root = rootOf(i);
        if (m_node.try_emplace(root, m_blocks.size()).second) {
            Blocks blocks{0};
            if (natural > 0 && natural < 4) blocks.push_back(natural);
            for (int64_t block = natural; block >= 4; block /= 2)
                if (m_module.type(value).shape[1].value() % block == 0) blocks.push_back(block);
            m_graph.addNode(std::vector<double>(blocks.size(), 0));
            m_blocks.push_back(std::move(blocks));
        }
        const size_t node = m_node.at(root);
        if (followsFloats(m_module.type(value).dtype)) continue;
        for (size_t option = 0; option < m_blocks[node].size(); ++option)
            if (m_blocks[node][option] != natural) m_graph.addCost(node, option, kNever);
    }
    m_isPaid.assign(m_values.size(), false);
    m_hasConvolution.assign(m_blocks.size(), false);
}

std::optional<size_t> LayoutPlan::classOf(ValueRef value) const
{
    const auto found = m_index.find(value);
    if (found == m_index.end()) return std::nullopt;
    return m_node.at(rootOf(found->second));
}

void LayoutPlan::addCosts()
{
    for (const NodeId parameter : m_function.params) payTransform({parameter, 0});
    for (const NodeId id : m_function.order) {
        const NodeRecord& node = m_module.node(id);
        if (node.kind == NodeKind::Constant) continue;
        const bool isOne = node.kind == NodeKind::Op && node.types.size() == 1;
        auto conv = isOne ? blockableConvolution(m_module, node) : std::nullopt;
        // Halves read and write the same blocks in about the same time.
        if (conv && !m_budget.tile(id).isHalves()) conv->tile = m_budget.tile(id);
        if (conv && classOf({id, 0}) && classOf(node.operands[0])) {
            addConvolution(node, *conv);
        } else if (isOne && isOp(node, concatenateOp) && classOf({id, 0})) {
            addConcatenation(node);
        } else if (isOne && channelSliceOf(m_module, node) && classOf({id, 0}) &&
                   classOf(node.operands[0])) {
            addChannelSlice(node);
        } else if (isOne && isOp(node, qnnConv2dOp)) {
            continue; // blocks of its own, always
        } else if (isOne && isOneOf(node, qnnQuantizeOp, qnnDequantizeOp) &&
                   hasOneScale(m_module, node)) {
            addDequantization(node); // floats may have the blocks of the bytes
        } else if (isOne && keepsBlocks(m_module, node)) {
            addWindow(node);
        } else if (!isOne || !(isElementwise(node) || joinsImages(node))) {
            payPlainReaders(node);
            for (uint32_t i = 0; i < node.types.size(); ++i) payTransform({id, i});
        }
    }
    for (const ValueRef result : m_function.results) payTransform(result);
}

/// A value that is plain on one side: blocks cost a transformation, once.
void LayoutPlan::payTransform(ValueRef value)
{
    const auto node = classOf(value);
    if (!node || m_isPaid[m_index.at(value)]) return;
    m_isPaid[m_index.at(value)] = true;
    for (size_t option = 1; option < m_blocks[*node].size(); ++option)
        m_graph.addCost(*node, option, transformCycles(m_module.type(value), m_machine.facts));
}

void LayoutPlan::payPlainReaders(const NodeRecord& node)
{
    for (const ValueRef operand : node.operands) {
        if (!classOf(operand)) continue;
        const Shape& shape = m_module.type(operand).shape;
        const bool isPixel = isOp(node, reshapeOp) && shape[2] == Dim(1) && shape[3] == Dim(1);
        if (!isPixel && !reducesPixels(node)) payTransform(operand);
    }
}

void LayoutPlan::addConvolution(const NodeRecord& node, const BlockableConvolution& conv)
{
    const size_t in = *classOf(node.operands[0]), out = *classOf({node.id, 0});
    const double move = transformCycles(m_module.type(node.operands[0]), m_machine.facts);
    m_hasConvolution[in] = m_hasConvolution[out] = true;
    for (size_t i = 0; i < m_blocks[in].size(); ++i)
        for (size_t o = 0; o < m_blocks[out].size(); ++o) {
            const int64_t from = m_blocks[in][i], to = m_blocks[out][o];
            double cycles = 0;
            if (to == 0 && from != 0)
                cycles = convolutionCycles(conv, 0, 0, m_machine) + move;
            else if (conv.isDepthwise && from == 0 && to != 0)
                cycles = convolutionCycles(conv, to, to, m_machine) + move;
            else
                cycles = convolutionCycles(conv, from, to, m_machine);
            const bool isWidest = o == std::min<size_t>(1, m_blocks[out].size() - 1);
            m_graph.addPair(in, out, i, o, isWidest ? cycles : cycles * kMargin);
        }
}

void LayoutPlan::addWindow(const NodeRecord& node)
{
    const auto own = classOf({node.id, 0});
    if (!own) return;
    for (size_t option = 0; option < m_blocks[*own].size(); ++option)
        m_graph.addCost(*own, option,
                        windowCycles(m_module, node, m_blocks[*own][option], m_machine.facts));
}

/// Floats of what a layer of bytes makes: other blocks than its own are moved as bytes.
void LayoutPlan::addDequantization(const NodeRecord& node)
{
    const auto in = classOf(node.operands[0]), out = classOf({node.id, 0});
    const bool isOfLayer =
        isOp(node, qnnDequantizeOp) && isOp(m_module.node(node.operands[0].node), qnnRequantizeOp);
    if (!in || !out || !isOfLayer) return;
    const double move = transformCycles(m_module.type(node.operands[0]), m_machine.facts);
    for (size_t i = 0; i < m_blocks[*in].size(); ++i)
        for (size_t o = 0; o < m_blocks[*out].size(); ++o)
            if (m_blocks[*in][i] != m_blocks[*out][o]) m_graph.addPair(*in, *out, i, o, move);
}

/// Joined in blocks where these divide every part, else plain, and then brought into blocks.
void LayoutPlan::addConcatenation(const NodeRecord& node)
{
    const size_t out = *classOf({node.id, 0});
    const auto fits = [&](int64_t block) {
        return std::all_of(node.operands.begin(), node.operands.end(), [&](ValueRef part) {
            return classOf(part) && m_module.type(part).shape[1].value() % block == 0;
        });
    };
    for (size_t o = 0; o < m_blocks[out].size(); ++o) {
        const int64_t to = m_blocks[out][o];
        const bool isBlocked = to != 0 && fits(to);
        if (to != 0 && !isBlocked)
            m_graph.addCost(out, o, transformCycles(node.types[0], m_machine.facts));
        for (const ValueRef part : node.operands) {
            const auto in = classOf(part);
            const double move = transformCycles(m_module.type(part), m_machine.facts);
            for (size_t i = 0; in && i < m_blocks[*in].size(); ++i) {
                const int64_t from = m_blocks[*in][i], wanted = isBlocked ? to : 0;
                m_graph.addPair(*in, out, i, o, movesBetween(from, wanted) * move);
            }
        }
    }
}

/// Cut in the blocks of the whole where these divide both ends, else plain.
void LayoutPlan::addChannelSlice(const NodeRecord& node)
{
    const size_t in = *classOf(node.operands[0]), out = *classOf({node.id, 0});
    const SliceRange slice = *channelSliceOf(m_module, node);
    const double move = transformCycles(node.types[0], m_machine.facts);
    for (size_t i = 0; i < m_blocks[in].size(); ++i)
        for (size_t o = 0; o < m_blocks[out].size(); ++o) {
            const int64_t from = m_blocks[in][i], to = m_blocks[out][o];
            const int64_t cut = isOfWholeBlocks(slice, from) ? from : 0;
            const double moves = movesBetween(from, cut) + movesBetween(cut, to);
            m_graph.addPair(in, out, i, o, moves * move);
        }
}

int64_t LayoutPlan::block(ValueRef value) const
{
    const auto node = classOf(value);
    return node ? m_blocks[*node][m_choice[*node]] : 0;
}

std::string LayoutPlan::weighed(std::string layouts, ValueRef value) const
{
    const auto node = classOf(value);
    if (!node || m_blocks[*node].size() < 2) return layouts;
    const auto thousands = [&](size_t option) {
        const double cycles = m_graph.costAt(m_choice, *node, option);
        char text[32];
        std::snprintf(text, sizeof text, cycles < 1e4 ? "%.1f" : "%.0f", cycles / 1000);
        return std::string(text);
    };
    std::string text = std::move(layouts);
    text += "; " + thousands(m_choice[*node]) + " kcycles around it";
    for (size_t option = 0; option < m_blocks[*node].size(); ++option) {
        if (option == m_choice[*node]) continue;
        if (!std::isfinite(m_graph.costAt(m_choice, *node, option))) continue;
        const int64_t block = m_blocks[*node][option];
        text += ", " + thousands(option) + " in " + (block == 0 ? "NCHW" : blockedLayout(block));
    }
    return text;
}

} // namespace tenon::compiler
