// SPDX-License-Identifier: Apache-2.0
// From the most exact forms to faster ones, the most time for the error first.
#include "compiler/passes/error/error_budget.h"

#include "compiler/passes/error/error_gain.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/strassen_choice.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Rounding what a layer stores, and what an operator behind it does.
constexpr double kStored = 4e-8;

constexpr std::string_view kRefused = " would be faster, but ";

/// Of the time that the model sees, what products of halves may take: the rest is left for what it
/// does not see.
constexpr double kWorthHalving = 0.97;

double squareOf(double x) { return x * x; }

/// Of a convolution that may have a faster form than the direct one.
std::optional<ConvolutionSize> transformedSize(const core::Module& module,
                                               const core::NodeRecord& node,
                                               const LayoutMachine& machine)
{
    if (machine.maxError > 0)
        if (const auto size = halvedSize(module, node))
            return timeOfHalves(*size, machine) < kWorthHalving ? size : std::nullopt;
    const auto size = winogradSize(module, node);
    return size && !winogradForm(*size, machine).tile.isDirect() ? size : std::nullopt;
}

} // namespace

std::string refusedForm(const std::string& reason)
{
    for (const std::string& clause : core::split(reason, ';'))
        if (clause.find(kRefused) != std::string::npos) return std::string(core::trimmed(clause));
    return {};
}

double storedError(double error) { return std::sqrt(squareOf(error) + squareOf(kStored)); }

double sumError(int64_t terms)
{
    return storedError(1.6e-8 * std::sqrt(static_cast<double>(terms)));
}

ErrorBudget::ErrorBudget(const core::Module& module, const core::GraphFunction& function,
                         const LayoutMachine& machine, double outputError)
{
    std::unordered_map<core::NodeId, ConvolutionSize> sizes;
    for (const core::NodeId id : function.order)
        if (const auto size = transformedSize(module, module.node(id), machine))
            sizes.emplace(id, *size);
    if (sizes.empty()) return;
    Choices choices;
    const ValueSamples samples(module, function);
    for (const LayerGain& layer : errorGains(module, function, samples)) {
        m_layers[layer.node] = {squareOf(layer.gain * sumError(layer.terms)), {}, {}};
        const auto size = sizes.find(layer.node);
        if (size == sizes.end()) continue;
        choices.emplace_back(layer.node, optionsOf(size->second, machine, layer.gain));
        sizes.erase(size);
    }
    for (const core::NodeId id : function.order) // as if it were a result
        if (const auto size = sizes.find(id); size != sizes.end())
            choices.emplace_back(id, optionsOf(size->second, machine, 1));
    choose(choices, squareOf(outputError));
}

/// The direct form first, then those that are faster.
std::vector<ErrorBudget::Option> ErrorBudget::optionsOf(const ConvolutionSize& size,
                                                        LayoutMachine machine, double gain)
{
    const double direct =
        squareOf(gain * sumError(size.kernel[0] * size.kernel[1] * size.inChannels));
    const int64_t lanes = channelBlock(size.outChannels / size.groups, machine.lanes);
    if (lanes == 0) return {{{}, 0, direct}};
    machine.lanes = static_cast<int>(lanes);
    std::vector<Option> out{{{}, winogradForm(size, machine, WinogradTile{}).cycles, direct}};
    const double halves = size.elements() == 1 ? timeOfHalves(size, machine) : 1;
    if (halves < kWorthHalving && strassenError(size) <= machine.maxError)
        out.push_back(
            {kHalves, halves * out[0].cycles, squareOf(gain * storedError(strassenError(size)))});
    for (const WinogradTile& tile : winogradTiles(size)) {
        const WinogradForm form = winogradForm(size, machine, tile);
        const double error = winogradError(size, tile);
        if (form.cycles < out[0].cycles && error <= machine.maxError)
            out.push_back({tile, form.cycles, squareOf(gain * storedError(error))});
    }
    return out;
}

void ErrorBudget::choose(const Choices& choices, double budget)
{
    std::vector<Option> chosen;
    for (const auto& [node, options] : choices) {
        chosen.push_back(
            *std::min_element(options.begin(), options.end(), [](const Option& a, const Option& b) {
                return a.square < b.square;
            }));
        m_layers[node] = {chosen.back().square, chosen.back().tile, {}};
    }
    while (true) {
        const double left = budget - squareOf(total());
        size_t best = choices.size();
        Option next{};
        double bestRate = 0;
        for (size_t i = 0; i < choices.size(); ++i)
            for (const Option& option : choices[i].second) {
                const double saved = chosen[i].cycles - option.cycles;
                const double added = option.square - chosen[i].square;
                if (saved <= 0 || added > left || saved <= bestRate * added) continue;
                best = i;
                next = option;
                bestRate = saved / std::max(added, 1e-300);
            }
        if (best == choices.size()) return explain(choices, chosen, budget);
        chosen[best] = next;
        m_layers[choices[best].first] = {next.square, next.tile, {}};
    }
}

/// Of layers whose fastest form has to wait for a larger budget.
void ErrorBudget::explain(const Choices& choices, const std::vector<Option>& chosen, double budget)
{
    for (size_t i = 0; i < choices.size(); ++i) {
        const auto& [node, options] = choices[i];
        const Option& fastest =
            *std::min_element(options.begin(), options.end(),
                              [](const Option& a, const Option& b) { return a.cycles < b.cycles; });
        if (fastest.cycles >= chosen[i].cycles) continue;
        const std::string form =
            fastest.tile.isDirect() ? "the direct method" : tilesText(fastest.tile);
        const double with = squareOf(total()) - chosen[i].square + fastest.square;
        m_layers[node].refused = form + std::string(kRefused) +
                                 "the model's expected error would be " +
                                 errorText(std::sqrt(with)) + ", of which " +
                                 errorText(std::sqrt(budget)) + " are allowed";
    }
}

WinogradTile ErrorBudget::tile(core::NodeId node) const
{
    const auto found = m_layers.find(node);
    return found == m_layers.end() ? WinogradTile{} : found->second.tile;
}

double ErrorBudget::share(core::NodeId node) const
{
    const auto found = m_layers.find(node);
    return found == m_layers.end() ? 0 : std::sqrt(found->second.square);
}

std::string ErrorBudget::shareText(core::NodeId node) const
{
    if (share(node) == 0) return {};
    const std::string& refused = m_layers.at(node).refused;
    return ", " + errorText(share(node)) + " of the largest result by rounding" +
           (refused.empty() ? "" : "; " + refused);
}

double ErrorBudget::total() const
{
    double sum = 0;
    for (const auto& [node, layer] : m_layers) sum += layer.square;
    return std::sqrt(sum);
}

} // namespace tenon::compiler
