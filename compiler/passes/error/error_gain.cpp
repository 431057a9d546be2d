// SPDX-License-Identifier: Apache-2.0
// From the results back to every layer, once, channel by channel.
#include "compiler/passes/error/error_gain.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/error/layer_weights.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/slice_ranges.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace tenon::compiler {
namespace {

/// Networks and images differ from the samples: without it, 0.7 to 3 times the measured errors were
/// expected.
constexpr double kMargin = 1.5;

/// Sensitivity of the results to independent errors of a value: their squares at the results per
/// square of the errors in each channel (axis 1).
using Gains = std::vector<double>;

int64_t extentOf(const Dim& dim) { return dim.isConst() ? dim.value() : 1; }

int64_t countOf(const TensorType& type)
{
    int64_t count = 1;
    for (const Dim& dim : type.shape) count *= extentOf(dim);
    return count;
}

size_t channelsOf(const TensorType& type)
{
    return type.shape.size() < 2
               ? 1
               : static_cast<size_t>(std::max<int64_t>(1, extentOf(type.shape[1])));
}

double sumOf(const Gains& gains) { return std::accumulate(gains.begin(), gains.end(), 0.0); }

/// For as many channels as there are: runs of channels become one or the other way round.
Gains spread(const Gains& gains, size_t channels)
{
    if (gains.size() == channels) return gains;
    Gains out(channels, 0);
    if (gains.size() % channels == 0) {
        const size_t run = gains.size() / channels;
        for (size_t i = 0; i < gains.size(); ++i) out[i / run] += gains[i];
    } else if (channels % gains.size() == 0) {
        const size_t run = channels / gains.size();
        for (size_t i = 0; i < channels; ++i) out[i] = gains[i / run] / static_cast<double>(run);
    } else {
        out.assign(channels, sumOf(gains) / static_cast<double>(channels));
    }
    return out;
}

Gains scaled(Gains gains, double factor)
{
    for (double& gain : gains) gain *= factor;
    return gains;
}

double meanOf(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) /
           static_cast<double>(std::max<size_t>(1, values.size()));
}

class GainWalk
{
public:
    GainWalk(const Module& module, const GraphFunction& function, const ValueSamples& samples)
        : m_module(module)
        , m_function(function)
        , m_samples(samples)
    {
    }

    std::vector<LayerGain> run()
    {
        for (const ValueRef result : m_function.results) seed(result);
        for (const NodeId id : m_function.order) seedBefore(m_module.node(id));
        for (size_t i = m_function.order.size(); i-- > 0;)
            visit(m_module.node(m_function.order[i]));
        return std::move(m_layers);
    }

private:
    bool isFloat(ValueRef value) const
    {
        return value.node.isValid() && m_module.type(value).dtype.isFloat() &&
               m_module.node(value.node).kind != NodeKind::Constant;
    }

    /// Errors count by the largest of so many, against the largest value.
    void seed(ValueRef value)
    {
        const Tensor* sample = isFloat(value) ? m_samples.find(value) : nullptr;
        const double largest = sample ? largestOf(*sample) : 0;
        if (largest == 0 || !m_seeds.insert(value).second) return;
        const TensorType& type = m_module.type(value);
        const double peak =
            kMargin * kMargin * 2 *
            std::log(2.0 * static_cast<double>(std::max<int64_t>(2, countOf(type))));
        const size_t channels = channelsOf(type);
        add(value, Gains(channels, peak / (largest * largest * static_cast<double>(channels))));
    }

    /// What a node reads of which it is not known what it makes.
    void seedBefore(const NodeRecord& node)
    {
        if (node.kind == NodeKind::Constant || m_samples.find({node.id, 0})) return;
        for (const ValueRef operand : node.operands) seed(operand);
    }

    void add(ValueRef value, const Gains& gains)
    {
        if (!isFloat(value)) return;
        const Gains own = spread(gains, channelsOf(m_module.type(value)));
        Gains& sum = m_gains[value];
        sum.resize(own.size(), 0);
        for (size_t i = 0; i < own.size(); ++i) sum[i] += own[i];
    }

    void visit(const NodeRecord& node)
    {
        if (node.kind != NodeKind::Op) return;
        std::vector<Gains> results;
        bool any = false;
        for (uint32_t i = 0; i < node.resultCount(); ++i) {
            const auto found = m_gains.find({node.id, i});
            results.push_back(found == m_gains.end()
                                  ? Gains(channelsOf(m_module.type({node.id, i})), 0)
                                  : found->second);
            any |= found != m_gains.end();
        }
        if (!any || !m_samples.find({node.id, 0})) return;
        if (const auto weights = layerWeights(m_module, node))
            return passLayer(node, *weights, results[0]);
        if (isOp(node, concatenateOp) || isOp(node, splitOp)) return passParts(node, results);
        if (const auto slice = channelSliceOf(m_module, node))
            return passChannels(node, slice->begin, results[0]);
        const OpDef* op = findOp(node.op);
        if (const double factor = windowFactor(node); factor > 0)
            return add(node.operands[0], scaled(results[0], factor));
        if (isOp(node, softmaxOp)) {
            const double largest = largestOf(*m_samples.find({node.id, 0}));
            return add(node.operands[0], scaled(results[0], largest * largest));
        }
        if (op->pattern <= Pattern::Broadcast && node.types.size() == 1)
            return passElementwise(node, results[0]);
        const bool moves = op->pattern == Pattern::Injective || op->family == Family::Movement ||
                           op->family == Family::Layout || op->choosesValues;
        moves&& node.types.size() == 1 ? add(node.operands[0], results[0])
                                       : passRelative(node, results);
    }

    /// Of an average or a sum of independent errors; 0 for other operators.
    double windowFactor(const NodeRecord& node) const
    {
        const auto from = static_cast<double>(countOf(
            m_module.type(node.operands.empty() ? ValueRef{node.id, 0} : node.operands[0])));
        const auto to =
            static_cast<double>(std::max<int64_t>(1, countOf(m_module.type({node.id, 0}))));
        if (isOp(node, globalAvgPool2dOp) || isOp(node, meanOp)) return to / from;
        if (isOp(node, sumOp)) return from / to;
        if (!isOp(node, avgPool2dOp)) return 0;
        const std::vector<int64_t> size = node.attrs.integers("pool_size", {1, 1});
        return 1 / static_cast<double>(size[0] * size[1]);
    }

    void passLayer(const NodeRecord& node, const LayerWeights& weights, const Gains& gains)
    {
        const size_t outputs = weights.groups * weights.results;
        const std::vector<double> data = squaresByChannel(*m_samples.find(node.operands[0]));
        if (gains.size() != outputs || data.size() != weights.groups * weights.operands)
            return passRelative(node, {gains});
        const std::vector<double> terms = weights.weighted(data);
        Gains in(data.size(), 0);
        double square = 0;
        for (size_t o = 0; o < outputs; ++o) {
            square += gains[o] * terms[o];
            for (size_t i = 0; i < weights.operands; ++i)
                in[weights.firstOperand(o) + i] +=
                    gains[o] * weights.squares[o * weights.operands + i];
        }
        m_layers.push_back({node.id, weights.terms, std::sqrt(square)});
        add(node.operands[0], in);
    }

    /// By differences: each operand a little larger, one at a time.
    void passElementwise(const NodeRecord& node, const Gains& gains)
    {
        const Tensor& result = *m_samples.find({node.id, 0});
        std::vector<Tensor> operands;
        for (const ValueRef operand : node.operands)
            operands.push_back(operand.node.isValid() ? *m_samples.find(operand) : Tensor());
        const bool isSum = isOp(node, addOp) || isOp(node, subtractOp) || isOp(node, biasAddOp);
        for (size_t i = 0; i < operands.size(); ++i) {
            if (!isFloat(node.operands[i])) continue;
            if (isSum) {
                add(node.operands[i], gains);
                continue;
            }
            add(node.operands[i], sensitive(node, operands, i, result, gains));
        }
    }

    /// Elements that arrive, by channel of the result, as squares.
    Gains sensitive(const NodeRecord& node, std::vector<Tensor> operands, size_t which,
                    const Tensor& result, const Gains& gains) const
    {
        const Tensor before = operands[which];
        const double step = 1e-3 * std::sqrt(meanOf(squaresByChannel(before))) + 1e-30;
        operands[which] =
            Tensor::make(before.dtype(), before.shape(), [&](std::span<std::byte> bytes) {
                for (int64_t i = 0; i < before.size(); ++i)
                    storeNumber(before.dtype(), bytes, i, before.number(i) + step);
            });
        const std::vector<Tensor> after = m_samples.results(node, operands);
        if (after.size() != 1 || after[0].shape() != result.shape()) return gains;
        const Tensor slopes =
            Tensor::make(kFloat32, result.shape(), [&](std::span<std::byte> bytes) {
                for (int64_t i = 0; i < result.size(); ++i)
                    storeNumber(kFloat32, bytes, i, (after[0].number(i) - result.number(i)) / step);
            });
        const std::vector<double> squares = squaresByChannel(slopes);
        Gains out = gains;
        if (squares.size() != out.size()) return scaled(out, meanOf(squares));
        for (size_t c = 0; c < out.size(); ++c) out[c] *= squares[c];
        return out;
    }

    /// Parts along the channels; along another axis each has all of them.
    /// To those that a slice begins with and the next ones.
    void passChannels(const NodeRecord& node, int64_t first, const Gains& results)
    {
        Gains gains(channelsOf(m_module.type(node.operands[0])), 0);
        std::copy(results.begin(), results.end(),
                  gains.begin() + static_cast<std::ptrdiff_t>(first));
        add(node.operands[0], gains);
    }

    void passParts(const NodeRecord& node, const std::vector<Gains>& results)
    {
        const bool joins = isOp(node, concatenateOp);
        const ValueRef whole = joins ? ValueRef{node.id, 0} : node.operands[0];
        const Shape& shape = m_module.type(whole).shape;
        const bool isByChannel = normalizedAxis(node.attrs.integer("axis", 0), shape.size()) == 1;
        if (joins) {
            size_t first = 0;
            for (const ValueRef operand : node.operands) {
                if (!isByChannel) {
                    add(operand, results[0]);
                    continue;
                }
                const size_t count = channelsOf(m_module.type(operand));
                const auto from = results[0].begin() + static_cast<std::ptrdiff_t>(first);
                add(operand, Gains(from, from + static_cast<std::ptrdiff_t>(count)));
                first += count;
            }
            return;
        }
        Gains all;
        for (const Gains& part : results)
            if (isByChannel)
                all.insert(all.end(), part.begin(), part.end());
            else
                add(whole, part);
        if (isByChannel) add(whole, all);
    }

    /// An operand's error relative to its values arrives relative to the results.
    void passRelative(const NodeRecord& node, const std::vector<Gains>& results)
    {
        double arriving = 0;
        for (uint32_t i = 0; i < results.size(); ++i)
            if (const Tensor* value = m_samples.find({node.id, i});
                value && value->dtype().isFloat())
                arriving += sumOf(results[i]) * meanOf(squaresByChannel(*value));
        for (const ValueRef operand : node.operands) {
            const Tensor* value = isFloat(operand) ? m_samples.find(operand) : nullptr;
            const double square = value ? meanOf(squaresByChannel(*value)) : 0;
            if (square > 0) add(operand, Gains{arriving / square});
        }
    }

    const Module& m_module;
    const GraphFunction& m_function;
    const ValueSamples& m_samples;
    std::unordered_map<ValueRef, Gains> m_gains;
    std::unordered_set<ValueRef> m_seeds;
    std::vector<LayerGain> m_layers;
};

} // namespace

double largestOf(const Tensor& value)
{
    double out = 0;
    for (int64_t i = 0; i < value.size(); ++i)
        if (std::isfinite(value.number(i))) out = std::max(out, std::abs(value.number(i)));
    return out;
}

std::vector<LayerGain> errorGains(const Module& module, const GraphFunction& function,
                                  const ValueSamples& samples)
{
    return GainWalk(module, function, samples).run();
}

} // namespace tenon::compiler
