// SPDX-License-Identifier: GPL-3.0-or-later
// Rows and columns of the pictures' twins.
#include "views/scene/scene_table.h"

#include "views/models/format.h"

namespace tenon::views {

QString stateText(DiffState state)
{
    switch (state) {
    case DiffState::Added: return QStringLiteral("added");
    case DiffState::Removed: return QStringLiteral("removed");
    case DiffState::Changed: return QStringLiteral("changed");
    case DiffState::Unchanged: return QStringLiteral("unchanged");
    case DiffState::Plain: break;
    }
    return {};
}

SceneTable* makeSceneTable(QObject* parent)
{
    const auto extra = [](const SceneRow& row, int role) -> QVariant {
        if (role == NodeRole)
            return row.item.node.isValid() ? static_cast<qint64>(row.item.node.value) : qint64{-1};
        if (role == Qt::AccessibleTextRole) return row.item.spoken;
        if (role == Qt::ToolTipRole) return row.item.spoken;
        return {};
    };
    const auto heat = [](const SceneRow& r) {
        return r.item.heat < 0 ? QVariant() : QVariant(r.item.heat);
    };
    return new SceneTable(
        {{QStringLiteral("Node"), [](const SceneRow& r) { return r.item.title; }, false, extra},
         {QStringLiteral("Name"), [](const SceneRow& r) { return r.item.name; }, false, extra},
         {QStringLiteral("What matters"), [](const SceneRow& r) { return r.item.detail; }, false,
          extra},
         {QStringLiteral("Inside"), [](const SceneRow& r) { return r.frame; }, false, extra},
         {QStringLiteral("Change"), [](const SceneRow& r) { return stateText(r.item.state); },
          false, extra},
         {QStringLiteral("Figure"), [](const SceneRow& r) { return r.item.figure; }, true, extra,
          heat}},
        parent);
}

TouchTable* makeTouchTable(QObject* parent)
{
    const auto extra = [](const TouchRow& row, int role) -> QVariant {
        return role == FigureRole ? QVariant(row.version) : QVariant();
    };
    return new TouchTable(
        {{QStringLiteral("Source node"), [](const TouchRow& r) { return r.source; }, false, extra},
         {QStringLiteral("Operator"), [](const TouchRow& r) { return r.op; }, false, extra},
         {QStringLiteral("Touched by"), [](const TouchRow& r) { return r.pass; }, false, extra}},
        parent);
}

std::vector<SceneRow> sceneRows(const Scene& scene)
{
    std::vector<SceneRow> rows;
    rows.reserve(scene.items.size());
    for (const SceneItem& item : scene.items) {
        const int frame = scene.itemAt(item.frame);
        rows.push_back(
            {item, frame < 0 ? QString() : scene.items[static_cast<size_t>(frame)].title});
    }
    return rows;
}

std::vector<TouchRow> touchRows(const Lineage& lineage, const std::vector<QString>& passNames)
{
    std::vector<TouchRow> rows;
    for (const LineageRow& row : lineage.rows)
        for (const int version : row.versions) {
            const auto pass = static_cast<size_t>(version) - 1;
            rows.push_back(
                {row.name, row.op, pass < passNames.size() ? passNames[pass] : QString(), version});
        }
    return rows;
}

} // namespace tenon::views
