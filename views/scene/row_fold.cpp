// SPDX-License-Identifier: GPL-3.0-or-later
// Bands without rows, from the top of a frame to its bottom.
#include "views/scene/row_fold.h"

#include <algorithm>

namespace tenon::views {

RowFold::RowFold(const core::LayoutRect& frame, std::vector<core::LayoutRect> rows, float title,
                 float gap)
    : m_frame(frame)
    , m_bottom(frame.bottom())
{
    std::sort(rows.begin(), rows.end(),
              [](const core::LayoutRect& a, const core::LayoutRect& b) { return a.y < b.y; });
    constexpr float kRounding = 0.5f;
    float end = frame.y, allowed = title;
    for (const core::LayoutRect& row : rows) {
        const float surplus = row.y - end - allowed;
        if (surplus > kRounding) m_bands.push_back({end, row.y, surplus});
        end = std::max(end, row.bottom());
        allowed = gap;
    }
    // Below the last row: as much as a frame without gaps has, at most.
    const float padding = core::LayoutOptions().groupPadding;
    const float surplus = frame.bottom() - end - padding;
    if (!rows.empty() && surplus > kRounding) m_bands.push_back({end, frame.bottom(), surplus});
    for (const Band& band : m_bands) m_frame.height -= band.surplus;
}

float RowFold::apply(float y) const
{
    float shift = 0;
    for (const Band& band : m_bands)
        shift += band.surplus * std::clamp((y - band.top) / (band.bottom - band.top), 0.0f, 1.0f);
    return y - shift;
}

} // namespace tenon::views
