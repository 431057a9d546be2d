// SPDX-License-Identifier: GPL-3.0-or-later
// AliveList: the buffers that are alive at a call, largest first.
#pragma once

#include "views/models/memory_rows.h"
#include "views/theme/theme_source.h"

#include <QListView>

namespace tenon::views {

class AliveList : public QListView
{
    Q_OBJECT
public:
    AliveList(const ThemeSource& themes, BufferModel* model, QWidget* parent = nullptr);
    /// Marks the row of a buffer of the plan; -1: none.
    void setSelectedBuffer(int buffer);

signals:
    void bufferRequested(int buffer);

private:
    BufferModel* m_buffers;
};

} // namespace tenon::views
