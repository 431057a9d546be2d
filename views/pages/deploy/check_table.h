// SPDX-License-Identifier: GPL-3.0-or-later
// CheckTable: checks with all their words, over as many lines as they need.
#pragma once

#include "views/models/deployment_rows.h"
#include "views/pages/common/data_table.h"

namespace tenon::views {

class CheckTable : public DataTable
{
    Q_OBJECT
public:
    CheckTable(const ThemeSource& themes, CheckModel* model, int subjectWidth,
               QWidget* parent = nullptr);

protected:
    void resizeEvent(QResizeEvent* event) override;
};

} // namespace tenon::views
