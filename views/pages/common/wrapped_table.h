// SPDX-License-Identifier: GPL-3.0-or-later
// WrappedTable: a table with one column of sentences, over as many lines as they need.
#pragma once

#include "views/pages/common/data_table.h"

namespace tenon::views {

class WrappedTable : public DataTable
{
    Q_OBJECT
public:
    /// Fixed widths of the columns; 0 for that of the sentences, `textColumn`.
    WrappedTable(const ThemeSource& themes, QAbstractItemModel* model,
                 const std::vector<int>& widths, int textColumn, QWidget* parent = nullptr);

protected:
    void resizeEvent(QResizeEvent* event) override;
};

} // namespace tenon::views
