// SPDX-License-Identifier: GPL-3.0-or-later
// Figures, bars and colours of a scene's items.
#pragma once

#include "views/scene/node_figures.h"
#include "views/scene/scene.h"

namespace tenon::views {

/// Scopes: the nodes inside each, and its item; -1: it has none.
struct ScopeNodes
{
    std::vector<std::vector<core::NodeId>> nodes;
    const std::vector<int>& items;
};

/// Bars are shares of the largest figure.
void writeFigures(const Document& document, const NodeFigures& figures, const ScopeNodes& scopes,
                  Scene& scene);

} // namespace tenon::views
