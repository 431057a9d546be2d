// SPDX-License-Identifier: GPL-3.0-or-later
// SortedRows: the rows of another model in the order of one of its columns.
#pragma once

#include <QSortFilterProxyModel>

namespace tenon::views {

/// "conv2" before "conv10", upper and lower case alike.
bool comesBefore(const QString& a, const QString& b);

/// By SortRole; column -1 is the model's own order. Rows that have nothing to be ordered by come
/// last both ways.
class SortedRows : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    explicit SortedRows(QAbstractItemModel* rows, QObject* parent = nullptr);

protected:
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
};

} // namespace tenon::views
