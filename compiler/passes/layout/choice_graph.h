// SPDX-License-Identifier: Apache-2.0
// ChoiceGraph: one of a few options for each node, at the least sum of costs of options and of
// pairs of them.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace tenon::compiler {

class ChoiceGraph
{
public:
    /// A node with a cost for each of its options, at least one; infinity forbids an option.
    size_t addNode(std::vector<double> costs);
    void addCost(size_t node, size_t option, double cost) { m_nodes[node][option] += cost; }
    /// Adds the cost of option i of `a` beside option j of `b`; nodes may be the same.
    void addPair(size_t a, size_t b, size_t i, size_t j, double cost);

    size_t size() const { return m_nodes.size(); }
    double costOf(const std::vector<size_t>& choice) const;
    /// Cost of one node's option, its pairs included, while all others keep their choice.
    double costAt(const std::vector<size_t>& choice, size_t node, size_t option) const;
    /// The cheapest choice by dynamic programming: nodes with at most two neighbours are taken out
    /// exactly, others by the option that looks cheapest, which is then exact no more. At least as
    /// good as `start`, from which it then goes down in single steps.
    std::vector<size_t> solve(const std::vector<size_t>& start) const;

private:
    using Matrix = std::vector<std::vector<double>>;
    using Pair = std::pair<size_t, size_t>; ///< the smaller node first

    std::vector<std::vector<double>> m_nodes;
    std::map<Pair, Matrix> m_pairs;
};

} // namespace tenon::compiler
