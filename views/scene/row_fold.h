// SPDX-License-Identifier: GPL-3.0-or-later
// RowFold: closes the gaps that vanished members leave between the rows of a fused frame.
#pragma once

#include "core/layout/layout.h"

#include <vector>

namespace tenon::views {

/// Moves what is below a gap up; what is outside the frame does not move.
class RowFold
{
public:
    RowFold() = default;
    /// `rows`: the members that are there, in any order; `gap`: what stays between two of them.
    RowFold(const core::LayoutRect& frame, std::vector<core::LayoutRect> rows, float title,
            float gap);

    bool isEmpty() const { return m_bands.empty(); }
    float apply(float y) const;
    core::LayoutRect frame() const { return m_frame; } ///< folded
    bool holds(float y) const { return y >= m_frame.y && y <= m_bottom; }

private:
    struct Band
    {
        float top;
        float bottom;
        float surplus;
    };
    std::vector<Band> m_bands;
    core::LayoutRect m_frame;
    float m_bottom = 0; ///< of the frame before folding
};

} // namespace tenon::views
