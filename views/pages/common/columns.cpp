// SPDX-License-Identifier: GPL-3.0-or-later
// Widths of the columns by the width of the window.
#include "views/pages/common/columns.h"

#include "views/theme/theme_source.h"

#include <QVBoxLayout>

#include <algorithm>

namespace tenon::views {

namespace {

constexpr double kRoomy = 1400; ///< from here on every column has its own width

} // namespace

Columns::Columns(const std::vector<Part>& parts, QWidget* parent)
    : QSplitter(Qt::Horizontal, parent)
{
    setHandleWidth(kGutter);
    for (const Part& part : parts) {
        addWidget(part.widget);
        m_widths.push_back(part.width);
        setStretchFactor(static_cast<int>(m_widths.size()) - 1, part.width == 0 ? 1 : 0);
    }
    setChildrenCollapsible(false);
    connect(this, &QSplitter::splitterMoved, this, [this] { m_isDragged = true; });
}

void Columns::resizeEvent(QResizeEvent* event)
{
    QSplitter::resizeEvent(event);
    if (m_isDragged) return;
    const double share = std::min(1.0, width() / kRoomy);
    int left = width() - (count() - 1) * handleWidth();
    QList<int> sizes;
    for (const int wide : m_widths) {
        sizes << static_cast<int>(wide * share);
        left -= sizes.back();
    }
    for (size_t i = 0; i < m_widths.size(); ++i)
        if (m_widths[i] == 0) sizes[static_cast<int>(i)] = std::max(left, 0);
    setSizes(sizes);
}

QSplitter* makeSplitter(Qt::Orientation orientation, std::initializer_list<QWidget*> parts,
                        const QList<int>& sizes)
{
    auto* splitter = new QSplitter(orientation);
    splitter->setHandleWidth(kGutter);
    splitter->setChildrenCollapsible(false);
    for (QWidget* part : parts) splitter->addWidget(part);
    if (!sizes.isEmpty()) splitter->setSizes(sizes);
    return splitter;
}

void fillWith(QWidget& page, QWidget* content)
{
    auto* layout = new QVBoxLayout(&page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(content);
}

} // namespace tenon::views
