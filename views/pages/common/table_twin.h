// SPDX-License-Identifier: GPL-3.0-or-later
// TableTwin: a picture and the table of the same facts, one of them shown.
#pragma once

#include "views/pages/common/data_table.h"
#include "views/pages/common/exhibit.h"
#include "views/pages/common/pill_tabs.h"

#include <QStackedWidget>

namespace tenon::views {

class TableTwin : public QStackedWidget
{
    Q_OBJECT
public:
    /// `name` is the picture's, for the switch: "Graph", "Chart".
    TableTwin(const ThemeSource& themes, QWidget* picture, QAbstractItemModel* model,
              const QString& name, QWidget* parent = nullptr);

    DataTable& table() { return *m_table; }
    Exhibit& exhibit() { return *m_exhibit; } ///< of the picture; its rows are the table's
    /// Put it where the panel's commands are.
    PillButton* button() { return m_button; }
    bool isTable() const { return currentWidget() == m_table; }
    void toggle();

    QSize sizeHint() const override { return currentWidget()->sizeHint(); }
    QSize minimumSizeHint() const override { return currentWidget()->minimumSizeHint(); }

signals:
    void toggled();

private:
    QString m_name;
    DataTable* m_table;
    Exhibit* m_exhibit;
    PillButton* m_button;
};

} // namespace tenon::views
