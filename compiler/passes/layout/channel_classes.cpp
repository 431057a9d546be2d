// SPDX-License-Identifier: Apache-2.0
// Union-find over the values of four dimensions.
#include "compiler/passes/layout/channel_classes.h"

#include "compiler/ops/ops.h"

#include <algorithm>
#include <numeric>

namespace tenon::compiler {
namespace {

constexpr size_t kChannelAxis = 1;

/// Integers are bytes or sums of their products.
bool isOfLayers(DataType dtype)
{
    return dtype == kFloat32 || dtype == kInt8 || dtype == kUInt8 || dtype == kInt32;
}

bool isPlainConvolution(const Module& module, const NodeRecord& node)
{
    const bool isInteger = isOp(node, qnnConv2dOp) && weightZeroOf(module, node);
    if ((!isInteger && !isOp(node, conv2dOp)) ||
        node.attrs.string("data_layout", "NCHW") != "NCHW" ||
        node.attrs.string("kernel_layout", "OIHW") != "OIHW")
        return false;
    const Tensor* weight = constantOf(module, node.operands[1]);
    return weight && (isInteger || weight->dtype() == kFloat32);
}

bool leavesChannels(const NodeRecord& node, const char* attr, size_t rank)
{
    const std::vector<int64_t> axes = node.attrs.integers(attr, {});
    return !axes.empty() && std::all_of(axes.begin(), axes.end(), [&](int64_t axis) {
        return normalizedAxis(axis, rank) > static_cast<int64_t>(kChannelAxis);
    });
}

/// Of one tensor: windows, means, borders and parts of rows and columns.
bool passesWindows(const NodeRecord& node)
{
    const OpDef& op = factsOf(node);
    if (op.blockedForm == BlockedForm::ByLayout)
        return node.attrs.string("layout", "NCHW") == "NCHW";
    if (op.blockedForm == BlockedForm::ByReduction)
        return isOneOf(node, meanOp, maxOp, minOp, sumOp) &&
               node.attrs.integer("keepdims", 0) != 0 && reducesRowsOrColumns(node, 4);
    if (isOp(node, stridedSliceOp)) return leavesChannels(node, "axes", 4);
    const std::vector<int64_t> width = node.attrs.integers("pad_width", {});
    return isOp(node, padOp) && width.size() == 8 && width[2] == 0 && width[3] == 0;
}

/// Channels of one number behind those of an image: as well a few more of them.
bool appendsChannels(const NodeRecord& node)
{
    if (!isOp(node, padOp) || node.attrs.string("pad_mode", "constant") != "constant") return false;
    const std::vector<int64_t> width = node.attrs.integers("pad_width", {});
    return width.size() == 8 && width[0] == 0 && width[1] == 0 && width[2] == 0 && width[3] > 0;
}

/// Between floats and their integers.
bool isQuantization(const NodeRecord& node)
{
    return isOneOf(node, qnnQuantizeOp, qnnDequantizeOp);
}

/// Zeros stay numbers behind these, whatever stands on the other side.
bool passesElements(const Module& module, const NodeRecord& node)
{
    if (isOneOf(node, reluOp, leakyReluOp, clipOp, sigmoidOp, tanhOp, erfOp, absOp, negativeOp))
        return true;
    if (isOneOf(node, cutPatchesOp, joinPatchesOp, joinPhasesOp, joinFramesOp, stackPhasesOp,
                unstackPhasesOp))
        return true;
    if (isOneOf(node, qnnRequantizeOp, qnnAddOp, qnnMulOp) || isQuantization(node)) return true;
    if (isOp(node, biasAddOp))
        return normalizedAxis(node.attrs.integer("axis", 1), 4) ==
               static_cast<int64_t>(kChannelAxis);
    if (isOp(node, divideOp)) return constantOf(module, node.operands[1]) != nullptr;
    return isOneOf(node, addOp, subtractOp, multiplyOp, maximumOp, minimumOp);
}

} // namespace

std::optional<int> weightZeroOf(const Module& module, const NodeRecord& conv)
{
    constexpr size_t kWeightZero = 3; // of qnn.conv2d
    const bool hasZero = isOp(conv, qnnConv2dOp) && conv.operands.size() > kWeightZero &&
                         conv.operands[kWeightZero].node.isValid();
    if (!hasZero) return 0;
    const Tensor* zeros = constantOf(module, conv.operands[kWeightZero]);
    if (!zeros || zeros->size() != 1) return std::nullopt;
    return static_cast<int>(zeros->integer(0));
}

bool reducesRowsOrColumns(const NodeRecord& node, size_t rank)
{
    return factsOf(node).blockedForm == BlockedForm::ByReduction &&
           node.attrs.integer("exclude", 0) == 0 && leavesChannels(node, "axis", rank);
}

bool isWholeConvolution(const Module& module, const NodeRecord& node)
{
    return isPlainConvolution(module, node) && node.attrs.integer("groups", 1) == 1;
}

bool isGroupwiseConvolution(const Module& module, const NodeRecord& node)
{
    if (!isPlainConvolution(module, node)) return false;
    const std::vector<int64_t>& weight = constantOf(module, node.operands[1])->shape();
    const int64_t groups = node.attrs.integer("groups", 1);
    const bool isDepthwise = weight[1] == 1;
    return groups > 1 && groups * weight[1] == weight[0] && (isDepthwise || isOp(node, conv2dOp));
}

ChannelClasses::ChannelClasses(const Module& module, const GraphFunction& function)
    : m_module(module)
    , m_function(function)
{
    build();
    // Where floats cannot grow, or need not, their integers still may.
    for (const ChannelClass& own : m_classes)
        if (own.isOfBoth && !(own.canGrow && own.hasFloatLayers))
            for (const NodeId id : own.passing)
                if (isQuantization(m_module.node(id))) m_apart.insert(id);
    if (!m_apart.empty()) build();
}

void ChannelClasses::build()
{
    m_values.clear();
    m_index.clear();
    m_parent.clear();
    m_classOfRoot.clear();
    m_classes.clear();
    joinValues();
    collect();
}

bool ChannelClasses::passes(const NodeRecord& node) const
{
    return passesElements(m_module, node) && !m_apart.contains(node.id);
}

bool ChannelClasses::isOfChannels(ValueRef value) const { return m_index.contains(value); }

void ChannelClasses::joinValues()
{
    std::vector<NodeId> nodes = m_function.params;
    nodes.insert(nodes.end(), m_function.order.begin(), m_function.order.end());
    for (const NodeId id : nodes) {
        const NodeRecord& node = m_module.node(id);
        if (node.kind == NodeKind::Constant) continue;
        for (uint32_t i = 0; i < node.types.size(); ++i) {
            const TensorType& type = node.types[i];
            if (!isOfLayers(type.dtype) || type.shape.size() != 4 ||
                !constantShape({type.shape.begin() + 1, type.shape.end()}))
                continue;
            m_index[{id, i}] = m_values.size();
            m_parent.push_back(m_values.size());
            m_values.push_back({id, i});
        }
        const ValueRef result{id, 0};
        if (node.kind != NodeKind::Op || node.types.size() != 1 || !isOfChannels(result)) continue;
        if (isGroupwiseConvolution(m_module, node) || passesWindows(node))
            join(result, node.operands[0]);
        if (passes(node))
            for (const ValueRef operand : node.operands)
                if (isOfChannels(operand) &&
                    m_module.type(operand).shape[kChannelAxis] == node.types[0].shape[kChannelAxis])
                    join(result, operand);
    }
}

size_t ChannelClasses::rootOf(size_t value) const
{
    while (m_parent[value] != value) value = m_parent[value];
    return value;
}

void ChannelClasses::join(ValueRef a, ValueRef b)
{
    const auto x = m_index.find(a), y = m_index.find(b);
    if (x == m_index.end() || y == m_index.end()) return;
    const size_t p = rootOf(x->second), q = rootOf(y->second);
    m_parent[std::max(p, q)] = std::min(p, q);
}

std::optional<size_t> ChannelClasses::classOf(ValueRef value) const
{
    const auto found = m_index.find(value);
    if (found == m_index.end()) return std::nullopt;
    return m_classOfRoot.at(rootOf(found->second));
}

void ChannelClasses::leave(ValueRef value)
{
    const auto index = classOf(value);
    if (!index) return;
    std::vector<ValueRef>& leaving = m_classes[*index].leaving;
    if (std::find(leaving.begin(), leaving.end(), value) == leaving.end()) leaving.push_back(value);
}

void ChannelClasses::collect()
{
    for (size_t i = 0; i < m_values.size(); ++i)
        if (m_classOfRoot.try_emplace(rootOf(i), m_classes.size()).second)
            m_classes.push_back(
                {.channels = m_module.type(m_values[i]).shape[kChannelAxis].value()});
    for (const NodeId parameter : m_function.params)
        if (const auto own = classOf({parameter, 0})) m_classes[*own].canGrow = false;
    for (const NodeId id : m_function.order) {
        const NodeRecord& node = m_module.node(id);
        if (node.kind != NodeKind::Constant) collectReaders(node);
    }
    for (const ValueRef result : m_function.results) leave(result);
}

/// What the node is to the classes of its operands and results.
void ChannelClasses::collectReaders(const NodeRecord& node)
{
    const bool isOne = node.kind == NodeKind::Op && node.types.size() == 1;
    const auto own = isOne ? classOf({node.id, 0}) : std::nullopt;
    const bool isWhole = own && isWholeConvolution(m_module, node);
    const bool isPassing =
        own && !isWhole &&
        (isGroupwiseConvolution(m_module, node) || passesWindows(node) || passes(node));
    const bool isPadder = own && appendsChannels(node);
    const bool isFloatLayer = own && isOp(node, conv2dOp);
    if (isFloatLayer) m_classes[*own].hasFloatLayers = true;
    if (isWhole) m_classes[*own].makers.push_back(node.id);
    if (isPadder) m_classes[*own].padders.push_back(node.id);
    if (isPassing && isQuantization(node)) m_classes[*own].isOfBoth = true;
    if (isPassing) m_classes[*own].passing.push_back(node.id);
    if (isPassing && isGroupwiseConvolution(m_module, node))
        m_classes[*own].unit =
            std::lcm(m_classes[*own].unit, constantOf(m_module, node.operands[1])->shape()[1]);
    if (!isWhole && !isPassing && !isPadder)
        for (uint32_t i = 0; i < node.types.size(); ++i)
            if (const auto made = classOf({node.id, i})) m_classes[*made].canGrow = false;
    for (const ValueRef operand : node.operands) {
        if (!operand.node.isValid()) continue;
        const auto read = classOf(operand);
        if (isPassing && !read && !constantOf(m_module, operand)) m_classes[*own].canGrow = false;
        if (!read || (isPassing && *read == *own)) continue;
        if (isFloatLayer) m_classes[*read].hasFloatLayers = true;
        if (isWhole)
            m_classes[*read].readers.push_back(node.id);
        else
            leave(operand);
    }
}

} // namespace tenon::compiler
