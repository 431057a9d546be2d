// SPDX-License-Identifier: Apache-2.0
// ErrorBudget: which convolutions become Winograd's or products of halves so that the results stay
// as exact as is asked for, and what error is expected of them.
#pragma once

#include "compiler/passes/layout/winograd_choice.h"

#include <unordered_map>

namespace tenon::compiler {

/// Default of `winograd.output_error`.
inline constexpr double kOutputError = 2e-5;

/// Expected root mean square error of a sum of so many products in binary32, relative to the root
/// of the sum of their squares, with that of storing it.
double sumError(int64_t terms);
/// The error of sums with that of storing them.
double storedError(double error);

/// What shareText() says of a faster form in the reason of a change; empty where it says nothing.
std::string refusedForm(const std::string& reason);

class ErrorBudget
{
public:
    /// Nothing is looked at where no convolution may have a faster form.
    ErrorBudget(const core::Module& module, const core::GraphFunction& function,
                const LayoutMachine& machine, double outputError);

    /// Of a convolution; none: the direct method. Most time is saved for the error.
    WinogradTile tile(core::NodeId node) const;
    /// What a layer's errors are expected to add to the largest error of the results, relative to
    /// the largest result; 0 where that is not known. Independent: squares add up.
    double share(core::NodeId node) const;
    double total() const; ///< of all layers
    /// ", 3.1e-06 of the largest result by rounding", and behind "; " the faster form that the
    /// budget has no room for; empty where it is not known.
    std::string shareText(core::NodeId node) const;

private:
    struct Layer
    {
        double square = 0; ///< of its share
        WinogradTile tile;
        std::string refused; ///< "tiles of 4 x 4 would be faster, but ..."
    };
    struct Option
    {
        WinogradTile tile;
        double cycles;
        double square;
    };
    using Choices = std::vector<std::pair<core::NodeId, std::vector<Option>>>;

    static std::vector<Option> optionsOf(const ConvolutionSize& size, LayoutMachine machine,
                                         double gain);
    void choose(const Choices& choices, double budget);
    void explain(const Choices& choices, const std::vector<Option>& chosen, double budget);

    std::unordered_map<core::NodeId, Layer> m_layers;
};

} // namespace tenon::compiler
