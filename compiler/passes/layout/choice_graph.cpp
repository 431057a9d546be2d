// SPDX-License-Identifier: Apache-2.0
// Elimination of nodes, fewest neighbours first, then the way back.
#include "compiler/passes/layout/choice_graph.h"

#include <algorithm>
#include <limits>
#include <set>

namespace tenon::compiler {
namespace {

using Matrix = std::vector<std::vector<double>>;

size_t cheapest(const std::vector<double>& costs)
{
    return static_cast<size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

/// The graph while nodes are taken out; matrices exist in both directions.
class Elimination
{
public:
    explicit Elimination(std::vector<std::vector<double>> costs)
        : m_costs(std::move(costs))
        , m_edges(m_costs.size())
    {
    }

    void add(size_t a, size_t b, const Matrix& matrix)
    {
        if (!m_edges[a].count(b)) {
            m_edges[a][b] = Matrix(m_costs[a].size(), std::vector<double>(m_costs[b].size(), 0));
            m_edges[b][a] = Matrix(m_costs[b].size(), std::vector<double>(m_costs[a].size(), 0));
        }
        for (size_t i = 0; i < m_costs[a].size(); ++i)
            for (size_t j = 0; j < m_costs[b].size(); ++j) {
                m_edges[a][b][i][j] += matrix[i][j];
                m_edges[b][a][j][i] += matrix[i][j];
            }
    }

    std::vector<size_t> run()
    {
        std::set<size_t> left;
        for (size_t i = 0; i < m_costs.size(); ++i) left.insert(i);
        struct Taken
        {
            size_t node;
            std::vector<double> costs;
            std::map<size_t, Matrix> edges;
        };
        std::vector<Taken> order;
        while (!left.empty()) {
            const size_t node =
                *std::min_element(left.begin(), left.end(), [&](size_t a, size_t b) {
                    return m_edges[a].size() < m_edges[b].size();
                });
            if (m_edges[node].size() > 2) fix(node);
            order.push_back({node, m_costs[node], m_edges[node]});
            takeOut(node);
            left.erase(node);
        }
        std::vector<size_t> choice(m_costs.size(), 0);
        for (size_t i = order.size(); i-- > 0;) {
            std::vector<double> costs = order[i].costs;
            for (size_t own = 0; own < costs.size(); ++own)
                for (const auto& [other, matrix] : order[i].edges)
                    costs[own] += matrix[own][choice[other]];
            choice[order[i].node] = cheapest(costs);
        }
        return choice;
    }

private:
    /// Keeps the option that is cheapest with the best of each neighbour's.
    void fix(size_t node)
    {
        std::vector<double> costs = m_costs[node];
        for (size_t own = 0; own < costs.size(); ++own)
            for (const auto& [other, matrix] : m_edges[node]) {
                double best = std::numeric_limits<double>::infinity();
                for (size_t j = 0; j < m_costs[other].size(); ++j)
                    best = std::min(best, matrix[own][j] + m_costs[other][j]);
                costs[own] += best;
            }
        const size_t kept = cheapest(costs);
        for (size_t own = 0; own < costs.size(); ++own)
            if (own != kept) m_costs[node][own] = std::numeric_limits<double>::infinity();
    }

    /// Its neighbours get what its best option costs for each of theirs; a fixed node has one.
    void takeOut(size_t node)
    {
        const std::map<size_t, Matrix> edges = m_edges[node];
        for (const auto& [other, matrix] : edges) m_edges[other].erase(node);
        const std::vector<double>& costs = m_costs[node];
        if (edges.size() == 2) {
            const auto& [a, toA] = *edges.begin();
            const auto& [b, toB] = *std::next(edges.begin());
            Matrix merged(m_costs[a].size(), std::vector<double>(m_costs[b].size()));
            for (size_t i = 0; i < merged.size(); ++i)
                for (size_t j = 0; j < merged[i].size(); ++j) {
                    double best = std::numeric_limits<double>::infinity();
                    for (size_t own = 0; own < costs.size(); ++own)
                        best = std::min(best, costs[own] + toA[own][i] + toB[own][j]);
                    merged[i][j] = best;
                }
            add(a, b, merged);
            return;
        }
        const size_t kept = cheapest(costs);
        for (const auto& [other, matrix] : edges)
            for (size_t j = 0; j < m_costs[other].size(); ++j) {
                double best = matrix[kept][j];
                if (edges.size() == 1) {
                    best = std::numeric_limits<double>::infinity();
                    for (size_t own = 0; own < costs.size(); ++own)
                        best = std::min(best, costs[own] + matrix[own][j]);
                }
                m_costs[other][j] += best;
            }
    }

    std::vector<std::vector<double>> m_costs;
    std::vector<std::map<size_t, Matrix>> m_edges;
};

} // namespace

size_t ChoiceGraph::addNode(std::vector<double> costs)
{
    m_nodes.push_back(std::move(costs));
    return m_nodes.size() - 1;
}

void ChoiceGraph::addPair(size_t a, size_t b, size_t i, size_t j, double cost)
{
    if (a == b) {
        if (i == j) m_nodes[a][i] += cost;
        return;
    }
    if (a > b) {
        std::swap(a, b);
        std::swap(i, j);
    }
    Matrix& matrix = m_pairs[{a, b}];
    if (matrix.empty()) matrix.assign(m_nodes[a].size(), std::vector<double>(m_nodes[b].size(), 0));
    matrix[i][j] += cost;
}

double ChoiceGraph::costOf(const std::vector<size_t>& choice) const
{
    double cost = 0;
    for (size_t i = 0; i < m_nodes.size(); ++i) cost += m_nodes[i][choice[i]];
    for (const auto& [pair, matrix] : m_pairs)
        cost += matrix[choice[pair.first]][choice[pair.second]];
    return cost;
}

double ChoiceGraph::costAt(const std::vector<size_t>& choice, size_t node, size_t option) const
{
    double cost = m_nodes[node][option];
    for (const auto& [pair, matrix] : m_pairs) {
        if (pair.first == node) cost += matrix[option][choice[pair.second]];
        if (pair.second == node) cost += matrix[choice[pair.first]][option];
    }
    return cost;
}

std::vector<size_t> ChoiceGraph::solve(const std::vector<size_t>& start) const
{
    Elimination elimination(m_nodes);
    for (const auto& [pair, matrix] : m_pairs) elimination.add(pair.first, pair.second, matrix);
    std::vector<size_t> best = elimination.run();
    if (!(costOf(best) < costOf(start))) best = start;
    for (bool isBetter = true; isBetter;) {
        isBetter = false;
        for (size_t node = 0; node < m_nodes.size(); ++node)
            for (size_t option = 0; option < m_nodes[node].size(); ++option) {
                if (!(costAt(best, node, option) < costAt(best, node, best[node]) * (1 - 1e-9)))
                    continue;
                best[node] = option;
                isBetter = true;
            }
    }
    return best;
}

} // namespace tenon::compiler
