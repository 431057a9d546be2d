// SPDX-License-Identifier: GPL-3.0-or-later
// Heat strip and lineage strip.
#include "views/pages/passes/strips.h"

#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

constexpr int kNameWidth = 236;
constexpr int kStripHeight = 24;
constexpr double kDot = 4.2;

QColor mixed(const QColor& a, const QColor& b, double share)
{
    const auto f = static_cast<float>(share);
    return QColor::fromRgbF(a.redF() * (1 - f) + b.redF() * f,
                            a.greenF() * (1 - f) + b.greenF() * f,
                            a.blueF() * (1 - f) + b.blueF() * f);
}

} // namespace

HeatStrip::HeatStrip(const ThemeSource& themes, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
{
    setFixedHeight(14);
    setCursor(Qt::PointingHandCursor);
    setToolTip(tr("Where in the program this pass changed something, first to last operator. Click "
                  "to go there."));
    setAccessibleName(tr("Changes along the program"));
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
}

void HeatStrip::setCells(std::vector<HeatCell> cells)
{
    m_cells = std::move(cells);
    update();
}

void HeatStrip::paintEvent(QPaintEvent*)
{
    if (m_cells.empty()) return;
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    const double pitch = static_cast<double>(width()) / static_cast<double>(m_cells.size());
    for (size_t i = 0; i < m_cells.size(); ++i) {
        const HeatCell& cell = m_cells[i];
        QColor colour = mixed(t.line, t.accentSoft, 0.35);
        if (cell.heat > 0) colour = mixed(t.accentSoft, t.accent, 0.25 + 0.5 * cell.heat);
        if (cell.isSelected) colour = t.accent;
        painter.setBrush(colour);
        const double height = cell.isSelected ? 8 : 5;
        painter.drawRoundedRect(
            QRectF(static_cast<double>(i) * pitch + 1, (14 - height) / 2, pitch - 2, height), 2, 2);
    }
}

void HeatStrip::mousePressEvent(QMouseEvent* event)
{
    if (m_cells.empty()) return;
    const auto count = static_cast<int>(m_cells.size());
    const int at = std::clamp(
        static_cast<int>(event->position().x() * count / std::max(1, width())), 0, count - 1);
    for (int distance = 0; distance < count; ++distance)
        for (const int i : {at - distance, at + distance})
            if (i >= 0 && i < count && m_cells[static_cast<size_t>(i)].firstChanged != kNoPlace)
                return emit placeChosen(m_cells[static_cast<size_t>(i)].firstChanged);
}

LineageStrip::LineageStrip(const ThemeSource& themes, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
{
    setMouseTracking(true);
    setAccessibleName(tr("Lineage of the selection"));
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
}

void LineageStrip::setLineage(const Lineage& lineage, int versionCount, int version,
                              std::vector<QString> passNames)
{
    m_lineage = lineage;
    m_versionCount = versionCount;
    m_version = version;
    m_passNames = std::move(passNames);
    updateGeometry();
    update();
}

QSize LineageStrip::sizeHint() const
{
    return {400, static_cast<int>(std::max<size_t>(1, m_lineage.rows.size())) * kStripHeight + 6};
}

double LineageStrip::xOf(int version) const
{
    const double left = kNameWidth + 12, right = width() - 14;
    return left + (right - left) * version / std::max(1, m_versionCount - 1);
}

void LineageStrip::paintEvent(QPaintEvent*)
{
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_lineage.rows.empty()) {
        painter.setFont(t.body);
        painter.setPen(t.secondary);
        const QString hint =
            m_lineage.title.isEmpty()
                ? tr("Select a node to see every pass that touched it, back to the model file.")
                : tr("No pass touched it, and it comes from no operator of the model file.");
        painter.drawText(rect(), Qt::AlignCenter,
                         QFontMetrics(t.body).elidedText(hint, Qt::ElideRight, width() - 16));
        return;
    }
    const double now = xOf(m_version);
    painter.setPen(QPen(t.accent, 1, Qt::DotLine));
    painter.drawLine(QPointF(now, 0),
                     QPointF(now, static_cast<double>(m_lineage.rows.size()) * kStripHeight));
    for (size_t r = 0; r < m_lineage.rows.size(); ++r) {
        const LineageRow& row = m_lineage.rows[r];
        const double y = static_cast<double>(r) * kStripHeight + kStripHeight / 2.0;
        painter.setPen(QPen(t.line, 1.4));
        painter.drawLine(QPointF(xOf(0), y), QPointF(xOf(m_versionCount - 1), y));
        painter.setFont(t.secondaryFont);
        painter.setPen(t.secondary);
        const QString name = row.name + QStringLiteral("  ") + row.op;
        painter.drawText(
            QRectF(0, y - kStripHeight / 2.0, kNameWidth, kStripHeight),
            Qt::AlignLeft | Qt::AlignVCenter,
            QFontMetrics(t.secondaryFont).elidedText(name, Qt::ElideMiddle, kNameWidth));
        painter.setPen(Qt::NoPen);
        for (const int version : row.versions) {
            painter.setBrush(version == m_version ? t.accent : t.secondary);
            painter.drawEllipse(QPointF(xOf(version), y), kDot, kDot);
        }
    }
}

int LineageStrip::dotAt(QPointF position) const
{
    const auto row = static_cast<size_t>(std::max(0.0, position.y()) / kStripHeight);
    if (row >= m_lineage.rows.size()) return -1;
    for (const int version : m_lineage.rows[row].versions)
        if (std::abs(xOf(version) - position.x()) < kDot + 3) return version;
    return -1;
}

void LineageStrip::mousePressEvent(QMouseEvent* event)
{
    const int version = dotAt(event->position());
    if (version >= 0) emit versionChosen(version);
}

void LineageStrip::mouseMoveEvent(QMouseEvent* event)
{
    const int version = dotAt(event->position());
    setCursor(version >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (version > 0 && static_cast<size_t>(version) <= m_passNames.size())
        QToolTip::showText(event->globalPosition().toPoint(),
                           m_passNames[static_cast<size_t>(version) - 1], this);
}

} // namespace tenon::views
