// SPDX-License-Identifier: Apache-2.0
// Products by the machine's figures: floats may have fewer of them by Winograd's method, which
// takes windows and strides that integers multiply one by one.
#include "compiler/passes/quantize/integer_costs.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/layout/layout_machine.h"
#include "compiler/passes/layout/quantized_winograd.h"
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// The models know no smaller differences.
constexpr double kMargin = 0.85;
/// What the loops reach of the machine's products: in blocks of channels, where few channels are
/// read one by one (the first layer), and with plain ones.
constexpr double kReached = 0.85, kPlainInput = 0.7, kPlain = 0.45;
constexpr int64_t kWordBytes = 4;
/// Instructions of a vector that is widened, converted and scaled.
constexpr double kDequantize = 4;

/// A convolution, or all of several alike.
struct Convolutions
{
    ConvolutionSize size;
    double count = 1;
    bool isDilated = false;
};

int64_t shared(int64_t whole, int64_t parts) { return (whole + parts - 1) / parts; }
int64_t inWords(int64_t channels) { return shared(channels, kWordBytes) * kWordBytes; }

/// The phases of a transposed convolution: one convolution each, or of few channels one of all.
std::optional<Convolutions> phasesOf(const NodeRecord& node, const std::vector<int64_t>& weight,
                                     const std::vector<int64_t>& out)
{
    const std::vector<int64_t> strides = node.attrs.integers("strides", {1, 1});
    const int64_t phases = strides[0] * strides[1];
    const bool areApart = weight[1] % kWordBytes == 0;
    return Convolutions{{.batch = out[0],
                         .inChannels = weight[0],
                         .outChannels = areApart ? weight[1] : inWords(weight[1] * phases),
                         .rows = shared(out[2], strides[0]),
                         .columns = shared(out[3], strides[1]),
                         .kernel = {shared(weight[2], strides[0]), shared(weight[3], strides[1])}},
                        areApart ? static_cast<double>(phases) : 1};
}

/// Nothing for depthwise convolutions and dense layers, which read about as much as they multiply.
std::optional<Convolutions> convolutionsOf(const Module& module, const NodeRecord& node)
{
    if (!isOneOf(node, conv2dOp, conv2dTransposeOp)) return std::nullopt;
    Shape shape = node.types[0].shape;
    if (!shape.empty() && !shape[0].isConst()) shape[0] = Dim(1); // computed item by item
    const auto out = constantShape(shape);
    const auto weight = knownShape(module, node.operands[1]);
    const int64_t groups = node.attrs.integer("groups", 1);
    if (!out || !weight || out->size() != 4 || weight->size() != 4) return std::nullopt;
    if (isOp(node, conv2dTransposeOp))
        return groups == 1 ? phasesOf(node, *weight, *out) : std::nullopt;
    if (groups > 1 && (*weight)[1] == 1) return std::nullopt;
    const std::vector<int64_t> ones{1, 1}, strides = node.attrs.integers("strides", ones);
    return Convolutions{{.batch = (*out)[0],
                         .inChannels = (*weight)[1],
                         .outChannels = (*weight)[0],
                         .rows = (*out)[2],
                         .columns = (*out)[3],
                         .kernel = {(*weight)[2], (*weight)[3]},
                         .stride = {strides[0], strides[1]},
                         .groups = groups},
                        1,
                        node.attrs.integers("dilation", ones) != ones};
}

/// Of the taps of a dilated kernel, the share that meets the image: floats leave out the others.
double meetingImage(const Module& module, const NodeRecord& node, const ConvolutionSize& size)
{
    const auto in = knownShape(module, node.operands[0]);
    const std::vector<int64_t> dilation = node.attrs.integers("dilation", {1, 1});
    if (!in) return 1;
    double share = 1;
    for (size_t axis = 0; axis < 2; ++axis) {
        const auto side = static_cast<double>((*in)[2 + axis]);
        const auto taps = static_cast<double>(size.kernel[axis]);
        double met = 0;
        for (double tap = 0; tap < taps; ++tap) {
            const double away =
                std::abs(tap - (taps - 1) / 2) * static_cast<double>(dilation[axis]);
            met += std::max(0.0, 1 - away / side);
        }
        share *= met / taps;
    }
    return share;
}

/// Products of bytes come in words: of channels, or of columns where there is one channel.
double growthInWords(const ConvolutionSize& size)
{
    const int64_t side = size.inChannels == 1 ? size.kernel[1] : size.inChannels;
    return static_cast<double>(inWords(side)) / static_cast<double>(side);
}

/// Channels that fill no blocks stay plain: nothing widens them between quantizations.
double floatCycles(const Convolutions& of, const LayoutMachine& machine)
{
    const bool isBlocked = of.size.outChannels % kWordBytes == 0;
    const double direct = winogradForm(of.size, machine, WinogradTile{}).cycles;
    if (!isBlocked) return direct * kReached / kPlain;
    if (of.size.inChannels % kWordBytes == 0)
        return of.isDilated ? direct : winogradForm(of.size, machine).cycles;
    return direct * kReached / (of.size.inChannels < kWordBytes ? kPlainInput : kPlain);
}

} // namespace

IntegerCosts::IntegerCosts(const Module& module, const GraphFunction& function,
                           const PassContext& context)
    : m_module(module)
    , m_hasProducts(context.code.byteProducts.has_value())
    , m_savesMemory(context.code.savesMemory)
    , m_machine(layoutMachine(module, function, context))
{
}

bool IntegerCosts::isDearer(const NodeRecord& layer) const
{
    if (m_savesMemory) return false;
    // Widened one by one, products of bytes take twice those of floats and more.
    if (!m_hasProducts) return true;
    const auto layers = convolutionsOf(m_module, layer);
    if (!layers) return false;
    const ConvolutionSize& size = layers->size;
    const core::TargetFacts& facts = m_machine.facts;
    const auto filters = static_cast<double>(size.inChannels * size.outChannels) * size.elements();
    const auto pixels = static_cast<double>(size.batch * size.rows * size.columns);
    const double direct = filters * pixels * growthInWords(size) / (kReached * facts.byteMacs);
    const double integers = direct * shareByWinograd(size, facts);
    const auto read = pixels * static_cast<double>(size.inChannels * size.groups * size.phases());
    const double conversion = kDequantize * read / facts.lanes(4) / facts.vectorPipes;
    const double met = layers->isDilated ? meetingImage(m_module, layer, size) : 1;
    const double real = met * floatCycles(*layers, m_machine);
    return layers->count * real + conversion < kMargin * layers->count * integers;
}

} // namespace tenon::compiler
