// SPDX-License-Identifier: GPL-3.0-or-later
// Menus, the clipboard and files of what is shown.
#include "views/pages/common/exhibit.h"

#include "views/canvas/export_picture.h"
#include "views/models/rows_text.h"
#include "views/models/sorted_rows.h"
#include "views/models/table_model.h"
#include "views/pages/common/popup_menu.h"
#include "views/pages/common/rows_picture.h"

#include <QAbstractItemView>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QImage>
#include <QKeyEvent>
#include <QTableView>

#include <algorithm>

namespace tenon::views {

Exhibit::Exhibit(QAbstractItemView& view)
    : Exhibit(view, view.model())
{
    m_view = &view;
    m_picture = {[&view] { return rowsPictureSize(view); },
                 [&view](QPainter& painter) { paintRows(view, painter); }};
}

Exhibit::Exhibit(QWidget& picture, QAbstractItemModel* rows)
    : QObject(&picture)
    , m_shown(picture)
    , m_rows(rows)
{
    m_picture = {[&picture] { return QSizeF(picture.size()); },
                 [&picture](QPainter& painter) {
                     painter.fillRect(picture.rect(), picture.palette().color(QPalette::Base));
                     picture.render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
                 }};
    picture.installEventFilter(this);
    if (auto* area = qobject_cast<QAbstractScrollArea*>(&picture))
        area->viewport()->installEventFilter(this);
}

Exhibit* Exhibit::of(const QWidget& shown)
{
    return shown.findChild<Exhibit*>(QString(), Qt::FindDirectChildrenOnly);
}

QString Exhibit::title() const
{
    const QString name = m_shown.accessibleName();
    return name.isEmpty() ? tr("Table") : name;
}

/// In the order in which they are shown.
QModelIndexList Exhibit::selectedRows() const
{
    QModelIndexList rows = m_view->selectionModel()->selectedRows();
    if (rows.isEmpty() && m_view->currentIndex().isValid())
        rows << m_view->currentIndex().siblingAtColumn(0);
    std::sort(rows.begin(), rows.end());
    return rows;
}

void Exhibit::copy() const
{
    QClipboard* clipboard = QGuiApplication::clipboard();
    if (m_view) return clipboard->setText(tabbedRows(selectedRows()));
    const QString text = m_copied ? m_copied() : QString();
    if (!text.isEmpty()) return clipboard->setText(text);
    constexpr double kSharpness = 2;
    QImage image((m_picture.size() * kSharpness).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
    QPainter painter(&image);
    painter.scale(kSharpness, kSharpness);
    m_picture.paint(painter);
    painter.end();
    clipboard->setImage(image);
}

QString Exhibit::csv() const
{
    if (m_fill) m_fill();
    return m_rows ? csvText(*m_rows) : QString();
}

core::Status Exhibit::write(const QString& path) const
{
    if (path.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive)) return exportText(csv(), path);
    return exportPicture(m_picture.size(), m_picture.paint, path);
}

core::NodeId Exhibit::nodeAt(QPoint position) const
{
    if (m_nodeAt) return m_nodeAt(position);
    if (!m_view) return {};
    const QVariant node = m_view->indexAt(position).data(NodeRole);
    return node.isValid() && node.toLongLong() >= 0
               ? core::NodeId(static_cast<uint32_t>(node.toLongLong()))
               : core::NodeId();
}

void Exhibit::addJumps(QMenu& menu, core::NodeId node) const
{
    if (!m_host || !node.isValid()) return;
    for (const NodeJump& jump : m_host->jumps)
        if (jump.canGo(node)) menu.addAction(jump.text, [go = jump.go, node] { go(node); });
    menu.addSeparator();
}

/// What a click on a title does, for the keyboard.
void Exhibit::addSorting(QMenu& menu) const
{
    auto* table = qobject_cast<QTableView*>(m_view);
    if (!table || !qobject_cast<SortedRows*>(table->model())) return;
    QMenu* columns = menu.addMenu(tr("Sort by"));
    columns->addAction(tr("Nothing: as it comes"),
                       [table] { table->sortByColumn(-1, Qt::AscendingOrder); });
    for (int column = 0; column < table->model()->columnCount(); ++column) {
        const auto data = [&](int role) {
            return table->model()->headerData(column, Qt::Horizontal, role);
        };
        const QString name = data(Qt::DisplayRole).toString();
        if (name.isEmpty() || table->isColumnHidden(column)) continue;
        const auto order = static_cast<Qt::SortOrder>(data(Qt::InitialSortOrderRole).toInt());
        columns->addAction(name, [table, column, order] { table->sortByColumn(column, order); });
    }
}

void Exhibit::askFor(const QString& suffix, const QStringList& filters) const
{
    if (!m_host || !m_host->ask) return;
    m_host->ask({tr("Export %1").arg(title()), title() + suffix, filters,
                 [this](const QString& path) { return write(path); }});
}

QMenu* Exhibit::makeMenu(QPoint position)
{
    QMenu* menu = makePopupMenu(&m_shown);
    addJumps(*menu, nodeAt(position));
    for (const Command& command : m_commands) {
        QAction* action = menu->addAction(command.text, command.run);
        action->setEnabled(!command.canRun || command.canRun());
    }
    addSorting(*menu);
    if (!menu->isEmpty()) menu->addSeparator();
    menu->addAction(m_view     ? tr("Copy")
                    : m_copied ? tr("Copy the text")
                               : tr("Copy the picture"),
                    QKeySequence(QKeySequence::Copy), [this] { copy(); });
    if (m_rows)
        menu->addAction(tr("Export as CSV…"),
                        [this] { askFor(QStringLiteral(".csv"), {tr("Table (*.csv)")}); });
    menu->addAction(tr("Export as a picture…"), [this] {
        askFor(QStringLiteral(".png"), {tr("Picture (*.png)"), tr("Vector picture (*.svg)")});
    });
    return menu;
}

bool Exhibit::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::ContextMenu) {
        const auto* asked = static_cast<QContextMenuEvent*>(event);
        const bool isKey = asked->reason() == QContextMenuEvent::Keyboard;
        QPoint at = asked->pos();
        if (isKey && m_view) at = m_view->visualRect(m_view->currentIndex()).center();
        auto* widget = static_cast<QWidget*>(watched);
        if (isKey && m_view) widget = m_view->viewport();
        makeMenu(at)->popup(widget->mapToGlobal(at));
        return true;
    }
    if (event->type() == QEvent::KeyPress &&
        static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
        copy();
        return true;
    }
    return QObject::eventFilter(watched, event);
}

} // namespace tenon::views
