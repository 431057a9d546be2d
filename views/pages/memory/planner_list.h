// SPDX-License-Identifier: GPL-3.0-or-later
// PlannerList: planners side by side; clicking or Enter chooses one.
#pragma once

#include "views/models/memory_rows.h"
#include "views/theme/theme_source.h"

#include <QListView>

namespace tenon::views {

class PlannerList : public QListView
{
    Q_OBJECT
public:
    PlannerList(const ThemeSource& themes, PlannerModel* model, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    void chosen(QString algorithm);

private:
    void choose(const QModelIndex& index);
    PlannerModel* m_planners;
};

} // namespace tenon::views
