// SPDX-License-Identifier: GPL-3.0-or-later
// Cards as things with a menu.
#include "views/pages/common/graph_exhibit.h"

#include "views/canvas/export_picture.h"

namespace tenon::views {

namespace {

const SceneItem* selectedItem(const GraphCanvas& canvas)
{
    const int item = canvas.selectedItem();
    return item < 0 ? nullptr : &canvas.scene().items[static_cast<size_t>(item)];
}

QString cardText(const SceneItem& item)
{
    QStringList parts{item.title, item.detail, item.figure};
    parts.removeAll(QString());
    return parts.join(QLatin1Char('\t'));
}

} // namespace

void exhibitGraph(GraphCanvas& canvas, Exhibit& exhibit)
{
    GraphCanvas* const graph = &canvas;
    exhibit.setPicture({[graph] { return graphSize(*graph); },
                        [graph](QPainter& painter) { paintGraph(painter, *graph); }});
    exhibit.setNodeAt([graph](QPoint position) {
        graph->selectAt(position);
        const SceneItem* item = selectedItem(*graph);
        return item && !item->isScope ? item->node : core::NodeId();
    });
    exhibit.setCopied([graph] {
        const SceneItem* item = selectedItem(*graph);
        return item ? cardText(*item) : QString();
    });
    const auto hasItem = [graph] { return selectedItem(*graph) != nullptr; };
    exhibit.addCommand(
        {QObject::tr("Zoom to the selection"), [graph] { graph->zoomToSelection(); }, hasItem});
    exhibit.addCommand({QObject::tr("See all"), [graph] { graph->fit(); }});
}

} // namespace tenon::views
