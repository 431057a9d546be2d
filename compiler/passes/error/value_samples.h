// SPDX-License-Identifier: Apache-2.0
// ValueSamples: how large values are, known without running the model.
#pragma once

#include "core/ir/module.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace tenon::compiler {

using namespace core;

/// A few made-up elements of every channel of every value of a function. Networks keep the values
/// between layers at one size, by normalization or by their initial weights: what arrives behind a
/// convolution and its bias is taken as normally distributed, mean 0 and variance 1. Everything
/// else is computed on the samples: activations, sums, scales, and the last layers, whose size
/// nothing corrects. Images have up to 4 x 4 pixels, all independent.
class ValueSamples
{
public:
    ValueSamples(const Module& module, const GraphFunction& function);

    /// Null where it cannot be told; what reads such a value is missing, too.
    const Tensor* find(ValueRef value) const;
    /// The node's results for these operands; empty where it cannot be computed.
    std::vector<Tensor> results(const NodeRecord& node, const std::vector<Tensor>& operands) const;

private:
    void findLastLayers();
    void compute(const NodeRecord& node);
    Tensor normal(const NodeRecord& node, const std::vector<double>& variances) const;
    Tensor layerResult(const NodeRecord& node, const Tensor& data) const;
    bool isNormalizing(const NodeRecord& node) const;
    /// The node with attributes that fit the small operands.
    NodeRecord resized(const NodeRecord& node, const std::vector<Tensor>& operands) const;

    const Module& m_module;
    const GraphFunction& m_function;
    /// Of each node of the function, from its place there: ids are others in the next run.
    std::unordered_map<NodeId, uint64_t> m_streams;
    std::unordered_set<NodeId> m_last; ///< layers that no other layer follows
    std::unordered_map<ValueRef, Tensor> m_values;
};

} // namespace tenon::compiler
