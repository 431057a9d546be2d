// SPDX-License-Identifier: GPL-3.0-or-later
// Accessible children of the canvas; they live as long as the canvas's interface.
#include "views/canvas/canvas_accessible.h"

#include "views/canvas/graph_canvas.h"

#include <QAccessibleWidget>

#include <map>
#include <memory>

namespace tenon::views {

namespace {

/// One item of the scene shown now.
class ItemAccessible : public QAccessibleInterface
{
public:
    ItemAccessible(GraphCanvas* canvas, int item)
        : m_canvas(canvas)
        , m_item(item)
    {
    }

    bool isValid() const override
    {
        return m_canvas && m_item < static_cast<int>(m_canvas->scene().items.size());
    }
    QObject* object() const override { return nullptr; }
    QAccessibleInterface* parent() const override
    {
        return QAccessible::queryAccessibleInterface(m_canvas);
    }
    QAccessibleInterface* child(int) const override { return nullptr; }
    QAccessibleInterface* childAt(int, int) const override { return nullptr; }
    int childCount() const override { return 0; }
    int indexOfChild(const QAccessibleInterface*) const override { return -1; }
    QAccessible::Role role() const override
    {
        return isValid() && item().isFrame ? QAccessible::Grouping : QAccessible::ListItem;
    }
    QAccessible::State state() const override
    {
        QAccessible::State state;
        state.selectable = state.focusable = true;
        state.selected = isValid() && m_canvas->selectedItem() == m_item;
        state.focused = state.selected && m_canvas->hasFocus();
        return state;
    }
    QString text(QAccessible::Text kind) const override
    {
        if (!isValid()) return {};
        if (kind == QAccessible::Name) return item().spoken;
        if (kind != QAccessible::Description) return {};
        switch (item().state) {
        case DiffState::Added: return QStringLiteral("added by this pass");
        case DiffState::Removed: return QStringLiteral("removed by this pass");
        case DiffState::Changed: return QStringLiteral("changed by this pass");
        case DiffState::Plain:
        case DiffState::Unchanged: break;
        }
        return item().figure.isEmpty() ? QString() : QStringLiteral("measured ") + item().figure;
    }
    void setText(QAccessible::Text, const QString&) override {}
    QRect rect() const override
    {
        if (!isValid()) return {};
        const QRect area = m_canvas->pixelRect(m_item).toRect();
        return {m_canvas->mapToGlobal(area.topLeft()), area.size()};
    }
    QVector<QPair<QAccessibleInterface*, QAccessible::Relation>>
    relations(QAccessible::Relation) const override
    {
        return {};
    }

private:
    const SceneItem& item() const { return m_canvas->scene().items[static_cast<size_t>(m_item)]; }
    GraphCanvas* m_canvas;
    int m_item;
};

class CanvasAccessible : public QAccessibleWidget
{
public:
    explicit CanvasAccessible(GraphCanvas* canvas)
        : QAccessibleWidget(canvas, QAccessible::List, canvas->accessibleName())
        , m_canvas(canvas)
    {
    }
    ~CanvasAccessible() override
    {
        for (const auto& [item, id] : m_children) QAccessible::deleteAccessibleInterface(id);
    }

    int childCount() const override { return static_cast<int>(m_canvas->visibleItems().size()); }
    QAccessibleInterface* child(int index) const override
    {
        const std::vector<uint32_t> visible = m_canvas->visibleItems();
        if (index < 0 || static_cast<size_t>(index) >= visible.size()) return nullptr;
        const int item = static_cast<int>(visible[static_cast<size_t>(index)]);
        const auto known = m_children.find(item);
        if (known != m_children.end()) return QAccessible::accessibleInterface(known->second);
        auto* made = new ItemAccessible(m_canvas, item);
        m_children[item] = QAccessible::registerAccessibleInterface(made);
        return made;
    }
    int indexOfChild(const QAccessibleInterface* wanted) const override
    {
        for (int i = 0; i < childCount(); ++i)
            if (child(i) == wanted) return i;
        return -1;
    }

private:
    GraphCanvas* m_canvas;
    mutable std::map<int, QAccessible::Id> m_children;
};

} // namespace

QAccessibleInterface* canvasAccessibleFactory(const QString&, QObject* object)
{
    auto* canvas = qobject_cast<GraphCanvas*>(object);
    return canvas ? new CanvasAccessible(canvas) : nullptr;
}

} // namespace tenon::views
