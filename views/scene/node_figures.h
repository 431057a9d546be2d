// SPDX-License-Identifier: GPL-3.0-or-later
// NodeFigures: a figure of every node of one version. What was measured of a kernel stands, in
// parts, on all nodes that it computes: the parts add up to what was measured.
#pragma once

#include "views/scene/card_looks.h"

#include <unordered_map>

namespace tenon::views {

struct NodeFigure
{
    double value = 0;         ///< of a share: its numerator
    double whole = 0;         ///< of a share: its denominator
    bool isEstimated = false; ///< parts of kernels, by the operations of each node
    int call = -1;            ///< of the last kernel that it is a part of
    int tensor = -1;          ///< of a comparison: the one whose decibels it has
};

class NodeFigures
{
public:
    /// `standing`: the nodes of `module` that have cards or frames of their own.
    NodeFigures(const Document& document, const core::Module& module, CardFigure figure,
                const std::vector<const core::NodeRecord*>& standing);

    /// Null: it has none.
    const NodeFigure* of(core::NodeId node) const;
    /// The figures of those inside a fused call add up to the call's.
    void splitAmong(const core::NodeRecord& call);
    /// Of a group; estimated where a kernel is in it in part.
    NodeFigure sumOf(const std::vector<core::NodeId>& nodes) const;
    /// Of a group in a comparison: the worst inside.
    const NodeFigure* worstOf(const std::vector<core::NodeId>& nodes) const;
    /// A share where the figure is one, else the value.
    static double shown(CardFigure kind, const NodeFigure& figure);

private:
    double ofCall(size_t call) const;
    double wholeOfCall(size_t call) const;
    double weightOf(const core::NodeRecord& node) const;
    void measure(const std::vector<const core::NodeRecord*>& standing);
    void share(size_t call, const std::vector<const core::NodeRecord*>& nodes);
    void count(const core::NodeRecord& node);
    void takeLosses(const std::vector<const core::NodeRecord*>& standing);
    void compare(const std::vector<const core::NodeRecord*>& standing);
    void take(size_t tensor, const core::NodeRecord& node);
    void repeatIn(const std::vector<const core::NodeRecord*>& members,
                  const std::vector<core::ValueRef>& results, const NodeFigure& figure);

    const Document& m_document;
    const core::Module& m_module;
    CardFigure m_figure;
    std::unordered_map<core::NodeId, NodeFigure> m_figures;
    /// How much of which call a node is; only of calls that several nodes share.
    std::unordered_map<core::NodeId, std::vector<std::pair<int, double>>> m_parts;
};

} // namespace tenon::views
