// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of a raster by row and column.
#include "views/models/slice_rows.h"

#include "views/models/table_model.h"

namespace tenon::views {

void SliceRows::setRaster(const Raster& raster)
{
    beginResetModel();
    m_raster = raster;
    endResetModel();
}

int SliceRows::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : m_raster.rows;
}

int SliceRows::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : m_raster.columns;
}

QVariant SliceRows::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= m_raster.rows || index.column() >= m_raster.columns)
        return {};
    const double value = m_raster.at(index.row(), index.column());
    if (role == Qt::DisplayRole) return valueText(value);
    return role == FileRole || role == SortRole ? QVariant(value) : QVariant();
}

QVariant SliceRows::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole) return {};
    return QString::number(section * (orientation == Qt::Horizontal ? m_raster.elementsPerColumn
                                                                    : m_raster.elementsPerRow));
}

} // namespace tenon::views
