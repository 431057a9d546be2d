// SPDX-License-Identifier: Apache-2.0
// The error that rounding is expected to leave in a model's results.
#pragma once

#include "compiler/passes/pass.h"

#include <optional>
#include <string>
#include <unordered_map>

namespace tenon::compiler {

struct LayerError
{
    double own;   ///< of the sums, relative to the root of the sum of the squares of their terms
    double share; ///< of the results, relative to the largest; independent: squares add up
    std::string refused = {}; ///< the faster form that would exceed the budget, and by how much
};

/// Root mean square errors are taken times what the largest of so many results has.
struct ExpectedError
{
    double total = 0;                              ///< 0: nothing is known
    std::unordered_map<NodeId, LayerError> layers; ///< convolutions and dense layers, by node
};

/// Of all layers that a call of the last module computes: shares added up, the largest `own`.
/// Nothing where there is none.
std::optional<LayerError> errorOfCall(const ExpectedError& error, const Module& module,
                                      NodeId call);

/// By the forms that layers have after the last pass.
ExpectedError expectedError(const PassTrace& trace);

} // namespace tenon::compiler
