// SPDX-License-Identifier: GPL-3.0-or-later
// SliceRows: the cells of a slice as a table, for files and for eyes that read tables.
#pragma once

#include "views/models/tensor_slice.h"

#include <QAbstractTableModel>

namespace tenon::views {

class SliceRows : public QAbstractTableModel
{
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    void setRaster(const Raster& raster);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    /// Indices of the tensor along the axis.
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    Raster m_raster;
};

} // namespace tenon::views
