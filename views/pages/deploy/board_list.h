// SPDX-License-Identifier: GPL-3.0-or-later
// BoardList: the boards with state, way and target; clicking or Enter selects one.
#pragma once

#include "views/models/deployment_rows.h"
#include "views/theme/theme_source.h"

#include <QListView>

namespace tenon::views {

/// A dot whose fill and shape tell the state; `radius` in pixels.
void paintBoardState(QPainter& painter, const Theme& theme, BoardState state, QPointF centre,
                     double radius);

class BoardList : public QListView
{
    Q_OBJECT
public:
    BoardList(const ThemeSource& themes, BoardModel* model, QWidget* parent = nullptr);

signals:
    void chosen(QString name);

private:
    void choose(const QModelIndex& index);
    BoardModel* m_boards;
};

} // namespace tenon::views
