// SPDX-License-Identifier: GPL-3.0-or-later
// Order of rows by numbers and by names.
#include "views/models/sorted_rows.h"

#include "views/models/table_model.h"

namespace tenon::views {

namespace {

bool isNumber(const QVariant& value)
{
    return value.typeId() != QMetaType::QString && value.canConvert<double>();
}

/// The digits that start at `at`, without leading zeros; moves `at` behind them.
QStringView digitsAt(const QString& text, qsizetype& at)
{
    while (at < text.size() && text[at] == QLatin1Char('0')) ++at;
    const qsizetype first = at;
    while (at < text.size() && text[at].isDigit()) ++at;
    return QStringView(text).mid(first, at - first);
}

} // namespace

bool comesBefore(const QString& a, const QString& b)
{
    qsizetype i = 0, k = 0;
    while (i < a.size() && k < b.size()) {
        if (a[i].isDigit() && b[k].isDigit()) {
            const QStringView left = digitsAt(a, i), right = digitsAt(b, k);
            if (left.size() != right.size()) return left.size() < right.size();
            if (left != right) return left < right;
            continue;
        }
        const QChar left = a[i++].toCaseFolded(), right = b[k++].toCaseFolded();
        if (left != right) return left < right;
    }
    return a.size() - i < b.size() - k;
}

SortedRows::SortedRows(QAbstractItemModel* rows, QObject* parent)
    : QSortFilterProxyModel(parent)
{
    setSourceModel(rows);
    setDynamicSortFilter(true);
}

bool SortedRows::lessThan(const QModelIndex& left, const QModelIndex& right) const
{
    const QVariant a = left.data(SortRole), b = right.data(SortRole);
    const bool isDescending = sortOrder() == Qt::DescendingOrder;
    if (!a.isValid() || !b.isValid())
        return a.isValid() == b.isValid() ? false : a.isValid() != isDescending;
    if (isNumber(a) && isNumber(b)) return a.toDouble() < b.toDouble();
    return comesBefore(a.toString(), b.toString());
}

} // namespace tenon::views
