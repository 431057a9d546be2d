// SPDX-License-Identifier: GPL-3.0-or-later
// The twins of the pictures: the same facts as rows, for eyes and tools that read tables.
#pragma once

#include "views/models/table_model.h"
#include "views/scene/lineage.h"
#include "views/scene/scene.h"

namespace tenon::views {

struct SceneRow
{
    SceneItem item;
    QString frame; ///< title of the fused frame it stands in
};
using SceneTable = TableModel<SceneRow>;

struct TouchRow
{
    QString source;
    QString op;
    QString pass;
    int version = 0;
};
using TouchTable = TableModel<TouchRow>;

SceneTable* makeSceneTable(QObject* parent);
TouchTable* makeTouchTable(QObject* parent);

/// One row for every item of the scene, in its order.
std::vector<SceneRow> sceneRows(const Scene& scene);
/// One row for every dot of the lineage.
std::vector<TouchRow> touchRows(const Lineage& lineage, const std::vector<QString>& passNames);

/// "added", "removed", "changed", "unchanged"; empty for a scene without a diff.
QString stateText(DiffState state);

} // namespace tenon::views
