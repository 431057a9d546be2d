// SPDX-License-Identifier: GPL-3.0-or-later
// Figures of calls on the nodes that they serve.
#include "views/scene/card_figures.h"

#include "views/models/format.h"

#include <algorithm>

namespace tenon::views {

bool canChooseFigure(const Document& document)
{
    return document.measurement && document.expectedError > 0;
}

CardFigures::CardFigures(const Document& document, CardFigure figure)
    : m_document(document)
    , m_showsTimes(document.measurement && figure == CardFigure::Time)
{
    for (size_t c = 0; c < m_document.calls.size(); ++c) {
        m_largest = std::max(m_largest, figureOf(c));
        for (const core::SourceId source : m_document.calls[c].sources)
            m_callOfSource.emplace(source.value, static_cast<int>(c));
    }
}

/// A call's time, or the error that it is expected to add; 0: none.
double CardFigures::figureOf(size_t call) const
{
    if (!m_showsTimes) return m_document.calls[call].errorShare;
    const auto& times = m_document.measurement->calls;
    return call < times.size() ? times[call].medianUs : 0;
}

QString CardFigures::text(double figure) const
{
    if (!m_showsTimes) return QStringLiteral("error ") + errorText(figure);
    return durationText(figure) +
           QLatin1String(m_document.measurement->isEmulated ? " emulated" : "");
}

void CardFigures::add(const core::NodeRecord& node, SceneItem& item)
{
    if (m_largest <= 0) return;
    int call = m_document.callOfNode(node.id);
    for (size_t i = 0; call < 0 && i < node.origin.size(); ++i) {
        const auto it = m_callOfSource.find(node.origin[i].value);
        if (it != m_callOfSource.end()) call = it->second;
    }
    if (call < 0 || !m_shown.insert(call).second) return;
    const double figure = figureOf(static_cast<size_t>(call));
    if (figure <= 0) return;
    item.figure = text(figure);
    item.heat = static_cast<float>(figure / m_largest);
}

} // namespace tenon::views
