// SPDX-License-Identifier: Apache-2.0
// Samples of parameters and layers are drawn; what is between them is computed.
#include "compiler/passes/error/value_samples.h"

#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/error/layer_weights.h"
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace tenon::compiler {
namespace {

/// Rows and columns of samples.
constexpr int64_t kSide = 4;
/// Of a single operator.
constexpr double kMostFlops = 1e7;
constexpr int64_t kMostBytes = 1 << 24;

/// [0, 1), equal for equal arguments (splitmix64).
double uniformAt(uint64_t stream, uint64_t index)
{
    uint64_t z = (stream << 32) + index + 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// Mean 0, variance 1 (Box and Muller).
double normalAt(uint64_t stream, int64_t index)
{
    const auto i = static_cast<uint64_t>(index);
    const double radius = std::sqrt(-2 * std::log(1 - uniformAt(stream, 2 * i)));
    return radius * std::cos(2 * M_PI * uniformAt(stream, 2 * i + 1));
}

/// Dimensions that a run decides are 1, as batches are.
std::vector<int64_t> knownExtents(const Shape& shape)
{
    std::vector<int64_t> out;
    for (const Dim& dim : shape) out.push_back(dim.isConst() ? dim.value() : 1);
    return out;
}

/// Nothing is to be seen in it, and no size follows from its sizes.
bool isEmpty(const Shape& shape)
{
    return std::find(shape.begin(), shape.end(), Dim(0)) != shape.end();
}

/// `to` for an operand of shape `small` in place of `from`: groups of dimensions with equal
/// products belong together, and one of them takes the difference. Empty where it does not work
/// out.
std::vector<int64_t> regrouped(const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                               const std::vector<int64_t>& small)
{
    std::vector<int64_t> out;
    size_t i = 0, k = 0;
    while (i < from.size() || k < to.size()) {
        int64_t in = 1, result = 1, less = 1;
        const size_t first = k;
        do {
            if (i < from.size() && (in <= result || k == to.size())) {
                less *= small[i];
                in *= from[i++];
            } else if (k < to.size()) {
                result *= to[k++];
            } else {
                return {};
            }
        } while (in != result);
        for (size_t d = first; d < k; ++d) out.push_back(to[d]);
        if (less == in) continue;
        const auto fits = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                                       [&](int64_t dim) { return dim * less % in == 0; });
        if (fits == out.end()) return {};
        *fits = *fits * less / in;
    }
    return out;
}

/// Images have few pixels.
std::vector<int64_t> sampledShape(const Shape& shape)
{
    std::vector<int64_t> out = knownExtents(shape);
    if (out.size() != 4) return out;
    out[0] = 1;
    for (const size_t side : {2, 3}) out[side] = std::min(out[side], kSide);
    return out;
}

/// Operators that leave channels alone and whose results are like their data.
bool movesPixels(const NodeRecord& node)
{
    if (node.types.size() != 1 || node.types[0].shape.size() != 4) return false;
    const auto leavesChannels = [&](const char* attr) {
        const std::vector<int64_t> axes = node.attrs.integers(attr, {});
        return !axes.empty() && std::none_of(axes.begin(), axes.end(), [](int64_t axis) {
            return normalizedAxis(axis, 4) < 2;
        });
    };
    const std::vector<int64_t> width = node.attrs.integers("pad_width", {});
    return isOp(node, maxPool2dOp) || isOp(node, avgPool2dOp) || isOp(node, resize2dOp) ||
           (isOp(node, stridedSliceOp) && leavesChannels("axes")) ||
           (isOp(node, padOp) && width.size() == 8 &&
            std::all_of(width.begin(), width.begin() + 4, [](int64_t w) { return w == 0; }));
}

/// The same pixels again where there are more, fewer where there are less; the same channels again
/// where a side that was cut became channels.
Tensor repeated(const Tensor& data, std::vector<int64_t> shape)
{
    const std::vector<int64_t> to = shape, &from = data.shape();
    if (from == to || data.size() == 0) return data;
    return Tensor::make(data.dtype(), std::move(shape), [&](std::span<std::byte> bytes) {
        for (int64_t i = 0; i < elementCount(to); ++i) {
            const int64_t x = i % to[3], y = i / to[3] % to[2];
            const int64_t plane = i / to[3] / to[2] % (from[0] * from[1]);
            const int64_t at = (plane * from[2] + y % from[2]) * from[3] + x % from[3];
            storeNumber(data.dtype(), bytes, i, data.number(at));
        }
    });
}

/// One value per channel, or one for all.
bool isPerChannel(const Tensor& constant, const Shape& shape)
{
    const int64_t channels = shape.size() == 4 && shape[1].isConst() ? shape[1].value() : 0;
    const std::vector<int64_t>& own = constant.shape();
    if (constant.size() == 1) return true;
    return constant.size() == channels && own.size() >= 3 && own[own.size() - 3] == channels;
}

bool isLayer(const NodeRecord& node)
{
    return isOp(node, conv2dOp) || isOp(node, denseOp) || isOp(node, conv2dTransposeOp);
}

} // namespace

ValueSamples::ValueSamples(const Module& module, const GraphFunction& function)
    : m_module(module)
    , m_function(function)
{
    findLastLayers();
    for (const std::vector<NodeId>* nodes : {&m_function.params, &m_function.order})
        for (const NodeId id : *nodes) m_streams.emplace(id, m_streams.size());
    for (const NodeId id : m_function.params) {
        const NodeRecord& node = m_module.node(id);
        if (node.types.size() != 1) continue;
        const std::vector<int64_t> shape = sampledShape(node.types[0].shape);
        const DataType dtype = node.types[0].dtype;
        if (elementCount(shape) * dtype.bytes() > kMostBytes) continue;
        m_values[{id, 0}] = Tensor::make(dtype, shape, [&](std::span<std::byte> bytes) {
            // Zeros are valid as indices and as flags.
            for (int64_t i = 0; dtype.isFloat() && i < elementCount(shape); ++i)
                storeNumber(dtype, bytes, i, normalAt(m_streams.at(id), i));
        });
    }
    for (const NodeId id : m_function.order) compute(m_module.node(id));
}

void ValueSamples::findLastLayers()
{
    std::unordered_set<NodeId> read; ///< by layers, maybe through other nodes
    for (size_t i = m_function.order.size(); i-- > 0;) {
        const NodeRecord& node = m_module.node(m_function.order[i]);
        const bool isRead = read.count(node.id) > 0;
        if (isLayer(node) && !isRead) m_last.insert(node.id);
        if (isRead || isLayer(node))
            for (const ValueRef operand : node.operands) read.insert(operand.node);
    }
}

const Tensor* ValueSamples::find(ValueRef value) const
{
    const auto found = m_values.find(value);
    return found == m_values.end() ? nullptr : &found->second;
}

Tensor ValueSamples::normal(const NodeRecord& node, const std::vector<double>& variances) const
{
    const std::vector<int64_t> shape = sampledShape(node.types[0].shape);
    int64_t inner = 1;
    for (size_t i = 2; i < shape.size(); ++i) inner *= shape[i];
    const auto known = m_streams.find(node.id);
    const uint64_t stream = known != m_streams.end() ? known->second : m_streams.size();
    return Tensor::make(kFloat32, shape, [&](std::span<std::byte> bytes) {
        for (int64_t i = 0; i < elementCount(shape); ++i) {
            const auto channel = static_cast<size_t>(i / inner) % variances.size();
            storeNumber(kFloat32, bytes, i, std::sqrt(variances[channel]) * normalAt(stream, i));
        }
    });
}

/// The size that follows from the weights counts where no other layer does.
Tensor ValueSamples::layerResult(const NodeRecord& node, const Tensor& data) const
{
    const auto weights = layerWeights(m_module, node);
    const std::vector<double> squares = squaresByChannel(data);
    const bool isOwn = isOp(node, denseOp) || m_last.count(node.id) > 0;
    return isOwn && weights && squares.size() == weights->groups * weights->operands
               ? normal(node, weights->weighted(squares))
               : normal(node, {1});
}

/// Adds a bias, or the shift of a normalization.
bool ValueSamples::isNormalizing(const NodeRecord& node) const
{
    if (!isOp(node, addOp) || node.types[0].shape.size() != 4) return false;
    for (const size_t side : {0, 1}) {
        const Tensor* constant = constantOf(m_module, node.operands[side]);
        if (!constant || !isPerChannel(*constant, node.types[0].shape)) continue;
        const NodeRecord& before = m_module.node(node.operands[1 - side].node);
        return isOp(before, multiplyOp) || (isLayer(before) && !m_last.count(before.id));
    }
    return false;
}

NodeRecord ValueSamples::resized(const NodeRecord& node, const std::vector<Tensor>& operands) const
{
    NodeRecord out = node;
    out.types.clear(); // those of the small operands are inferred
    if (operands.empty() || operands[0].isNull() || !node.operands[0].node.isValid()) return out;
    const std::vector<int64_t> from = knownExtents(m_module.type(node.operands[0]).shape);
    const std::vector<int64_t>& small = operands[0].shape();
    if (from == small || node.types.empty()) return out;
    const std::vector<int64_t> to = knownExtents(node.types[0].shape);
    if (isOp(node, reshapeOp)) {
        out.attrs.set("newshape", regrouped(from, to, small));
    } else if (isOp(node, resize2dOp) && to.size() == 4 && small.size() == 4) {
        out.attrs.set("size",
                      std::vector<int64_t>{std::max<int64_t>(1, to[2] * small[2] / from[2]),
                                           std::max<int64_t>(1, to[3] * small[3] / from[3])});
    }
    return out;
}

std::vector<Tensor> ValueSamples::results(const NodeRecord& node,
                                          const std::vector<Tensor>& operands) const
{
    const NodeRecord small = resized(node, operands);
    Types types;
    for (const Tensor& operand : operands)
        types.push_back(operand.isNull() ? TensorType{kHandle, {}}
                                         : TensorType{operand.dtype(), makeShape(operand.shape())});
    const OpDef* op = findOp(node.op);
    std::vector<Tensor> out;
    // What an operator makes of sizes that no model gave it is none of the user's business.
    JobContext job;
    const Status done = runGuarded(
        [&](JobContext& own) -> Status {
            const Result<Types> inferred = op->infer({small.op, small.attrs, types, {}});
            if (!inferred) return inferred.error();
            for (const TensorType& type : *inferred)
                if (!constantShape(type.shape) || type.bytes() > kMostBytes) return kDone;
            const OpView view{small.op, small.attrs, types, *inferred};
            if (op->cost && op->cost(view).flops > kMostFlops) return kDone;
            auto values = evaluateNode(m_module, small, operands, own);
            if (values) out = std::move(*values);
            return kDone;
        },
        job);
    return done ? out : std::vector<Tensor>{};
}

void ValueSamples::compute(const NodeRecord& node)
{
    if (node.kind == NodeKind::Constant) {
        m_values[{node.id, 0}] = *node.constant;
        return;
    }
    const OpDef* op = node.kind == NodeKind::Op ? findOp(node.op) : nullptr;
    if (!op || !op->lower || op->accuracy == Accuracy::Random || op->family == Family::Control)
        return;
    std::vector<Tensor> operands;
    for (const ValueRef operand : node.operands) {
        const Tensor* value = operand.node.isValid() ? find(operand) : nullptr;
        if (operand.node.isValid() && (!value || isEmpty(m_module.type(operand).shape))) return;
        operands.push_back(value ? *value : Tensor());
    }
    std::vector<Tensor> values;
    const bool isFloat = !node.types.empty() && node.types[0].dtype == kFloat32;
    if (isFloat && isLayer(node))
        values = {layerResult(node, operands[0])};
    else if (isFloat && isNormalizing(node))
        values = {normal(node, {1})};
    else if (movesPixels(node) && operands[0].shape().size() == 4)
        values = {repeated(operands[0], sampledShape(node.types[0].shape))};
    else
        values = results(node, operands);
    for (size_t i = 0; i < values.size(); ++i)
        m_values[{node.id, static_cast<uint32_t>(i)}] = std::move(values[i]);
}

} // namespace tenon::compiler
