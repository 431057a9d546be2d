// SPDX-License-Identifier: GPL-3.0-or-later
// CardFigures: what stands on the cards of kernel calls, a time or an expected error.
#pragma once

#include "views/scene/stage.h"

#include <set>
#include <unordered_map>

namespace tenon::views {

/// One use, for one scene.
class CardFigures
{
public:
    CardFigures(const Document& document, CardFigure figure);

    /// The figure of the call that serves a node: by identity in the last version, else through the
    /// source nodes; each call is shown once, on the first node that stands for it.
    void add(const core::NodeRecord& node, SceneItem& item);

private:
    double figureOf(size_t call) const;
    QString text(double figure) const;

    const Document& m_document;
    bool m_showsTimes;
    double m_largest = 0; ///< of all figures
    std::unordered_map<uint32_t, int> m_callOfSource;
    std::set<int> m_shown; ///< calls
};

} // namespace tenon::views
