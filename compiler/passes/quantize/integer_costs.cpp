// SPDX-License-Identifier: Apache-2.0
// Products by the machine's figures: floats may have fewer of them by Winograd's method, which
// takes windows and strides that integers multiply one by one.
#include "compiler/passes/quantize/integer_costs.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/layout_machine.h"
#include "compiler/passes/layout/quantized_winograd.h"
#include "compiler/passes/layout/transposed_form.h"
#include "compiler/passes/quantize/integer_phases.h"
#include "compiler/passes/rewrite.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Of the loops over blocks of channels, what plain ones reach where channels fill no blocks.
constexpr double kPlain = 0.53;
/// Instructions of a vector that is widened, converted and scaled, and of one that is rounded.
constexpr double kDequantize = 4, kQuantize = 8;
/// Of a byte that is looked up by another: two loads and a store.
constexpr double kLookUp = 3;

/// What a layer is computed by, either way.
struct Forms
{
    std::vector<ConvolutionSize> integers, floats;
    bool isDilated = false;
};

ConvolutionSize sizeOf(const TransposedPhase& phase, int64_t batch, int64_t in, int64_t out)
{
    return {.batch = batch,
            .inChannels = in,
            .outChannels = out,
            .rows = phase.rows.results,
            .columns = phase.columns.results,
            .kernel = {phase.rows.taps, phase.columns.taps}};
}

ConvolutionSize sizeOf(const TransposedWindows& windows, int64_t batch, int64_t in, int64_t out)
{
    const auto& [rows, columns] = windows.axes();
    return {.batch = batch,
            .inChannels = in,
            .outChannels = inWords(windows.phases() * out),
            .rows = rows.count(),
            .columns = columns.count(),
            .kernel = {rows.taps, columns.taps}};
}

/// Nothing where either has no form of convolutions.
std::optional<Forms> transposedForms(const Module& module, const NodeRecord& node,
                                     const std::vector<int64_t>& weight, int64_t batch, int lanes)
{
    const auto ours = integerPhases(module, node, weight);
    if (!ours) return std::nullopt;
    Forms forms;
    for (const TransposedPhase& phase : ours->phases)
        forms.integers.push_back(sizeOf(phase, batch, weight[0], ours->filters));
    if (ours->windows)
        forms.integers.push_back(sizeOf(*ours->windows, batch, weight[0], weight[1]));
    const auto windows = transposedWindows(module, node, weight);
    switch (transposedForm(module, node, weight, lanes)) {
    case TransposedForm::Pixel:
        forms.floats.push_back({.batch = batch,
                                .inChannels = weight[0],
                                .outChannels = weight[1] * weight[2] * weight[3],
                                .rows = 1,
                                .columns = 1,
                                .kernel = {1, 1}});
        break;
    case TransposedForm::Phases:
        for (const TransposedPhase& phase : phasesOf(module, node, weight))
            forms.floats.push_back(sizeOf(phase, batch, weight[0], inWords(weight[1])));
        break;
    case TransposedForm::Windows:
        if (windows) forms.floats.push_back(sizeOf(*windows, batch, weight[0], weight[1]));
        break;
    }
    return forms.floats.empty() ? std::nullopt : std::optional(std::move(forms));
}

/// Nothing for depthwise convolutions and dense layers, which read about as much as they multiply.
std::optional<Forms> formsOf(const Module& module, const NodeRecord& node, int lanes)
{
    if (isOp(node, conv2dOp)) {
        const std::vector<int64_t> ones{1, 1};
        const auto size = convolutionSize(module, node);
        if (!size) return std::nullopt;
        return Forms{{*size}, {*size}, node.attrs.integers("dilation", ones) != ones};
    }
    if (!isOp(node, conv2dTransposeOp)) return std::nullopt;
    Shape shape = node.types[0].shape;
    if (!shape.empty() && !shape[0].isConst()) shape[0] = Dim(1); // computed item by item
    const auto out = constantShape(shape);
    const auto weight = knownShape(module, node.operands[1]);
    if (!out || !weight || out->size() != 4 || weight->size() != 4) return std::nullopt;
    return transposedForms(module, node, *weight, out->at(0), lanes);
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

/// What floats take by a tile, with the filters.
WinogradForm counted(const ConvolutionSize& size, const WinogradTile& tile,
                     const LayoutMachine& machine)
{
    const CountedForm form = countedFloats(size, tile, machine.facts);
    return {.tile = tile, .cycles = withFilters(form.cycles, form.filterBytes, machine)};
}

/// Channels that fill no blocks, as many more as do; fewer than a word of them stay.
ConvolutionSize widened(ConvolutionSize size, int lanes)
{
    for (int64_t* channels : {&size.inChannels, &size.outChannels})
        if (*channels >= kWordBytes && channelBlock(*channels, lanes) == 0)
            *channels = paddedChannels(*channels, lanes);
    return size;
}

/// Channels that fill no vectors stay plain, or become as many more.
WinogradForm floatForm(const ConvolutionSize& size, bool isDilated, const LayoutMachine& machine)
{
    const bool isBlocked = size.outChannels % kWordBytes == 0;
    WinogradForm direct = counted(size, {}, machine);
    if (isBlocked && size.inChannels % kWordBytes == 0)
        return isDilated ? direct : counted(size, winogradForm(size, machine).tile, machine);
    const bool isFirst = isBlocked && size.inChannels < kWordBytes;
    if (!isFirst) direct.cycles /= kPlain;
    if (isFirst || isDilated || size.groups > 1) return direct;
    const ConvolutionSize wider = widened(size, machine.lanes);
    if (wider.inChannels < kWordBytes || wider.outChannels < kWordBytes) return direct;
    const WinogradForm form = counted(wider, winogradForm(wider, machine).tile, machine);
    return form.cycles < direct.cycles ? form : direct;
}

double byteCycles(const ConvolutionSize& size, const LayoutMachine& machine)
{
    const ConvolutionSize wider = size.groups > 1 ? size : widened(size, machine.byteLanes);
    const CountedForm form = integerForm(wider, machine.facts).counted;
    return withFilters(form.cycles, form.filterBytes, machine);
}

/// Of what is read, from bytes to floats, and of the share of what is made, back again.
double conversionCycles(const Forms& forms, double rounded, const core::TargetFacts& facts)
{
    const auto pixels = [](const ConvolutionSize& size) {
        return static_cast<double>(size.batch * size.rows * size.columns);
    };
    const ConvolutionSize& first = forms.floats[0]; // all read the same image
    double perVector = kDequantize * pixels(first) *
                       static_cast<double>(first.inChannels * first.groups * first.phases());
    for (const ConvolutionSize& size : forms.floats)
        perVector += rounded * kQuantize * pixels(size) * static_cast<double>(size.outChannels);
    return issuedCycles(perVector, facts);
}

} // namespace

IntegerCosts::IntegerCosts(const Module& module, const GraphFunction& function,
                           const PassContext& context)
    : m_module(module)
    , m_hasProducts(context.code.byteProducts.has_value())
    , m_savesMemory(context.code.savesMemory)
    , m_hasByteTables(context.code.hasByteTables)
    , m_machine(layoutMachine(module, function, context))
{
}

std::optional<std::string> IntegerCosts::whyFloats(const NodeRecord& layer, double rounded) const
{
    if (m_savesMemory) return std::nullopt;
    // Widened one by one, products of bytes take twice those of floats and more.
    if (!m_hasProducts) return "the target has no products of bytes";
    const auto forms = formsOf(m_module, layer, m_machine.lanes);
    if (!forms) return std::nullopt;
    const core::TargetFacts& facts = m_machine.facts;
    const double met = forms->isDilated ? meetingImage(m_module, layer, forms->floats[0]) : 1;
    double integers = 0, real = 0;
    WinogradTile tile;
    for (const ConvolutionSize& size : forms->integers) integers += byteCycles(size, m_machine);
    for (const ConvolutionSize& size : forms->floats) {
        const WinogradForm form = floatForm(size, forms->isDilated, m_machine);
        real += met * form.cycles;
        if (!form.tile.isDirect()) tile = form.tile;
    }
    real += conversionCycles(*forms, rounded, facts);
    if (real >= integers) return std::nullopt;
    return "floats take about " + fixed(real / integers, 2) + " of the cycles" +
           (tile.isDirect() ? "" : ", by " + tilesText(tile));
}

bool IntegerCosts::isBelowTable(double perVector) const
{
    return !m_savesMemory && !m_hasByteTables &&
           kDequantize + perVector + kQuantize < kLookUp * m_machine.facts.lanes(4);
}

} // namespace tenon::compiler
