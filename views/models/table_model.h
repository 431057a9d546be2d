// SPDX-License-Identifier: GPL-3.0-or-later
// TableModel: a flat read-only table over rows of any kind; columns are functions of a row.
#pragma once

#include <QAbstractTableModel>

#include <functional>
#include <utility>
#include <vector>

namespace tenon::views {

/// Roles beside text: what the row leads to and what the cell means.
enum TableRole
{
    NodeRole = Qt::UserRole, ///< NodeId value to go to, or -1
    FigureRole,              ///< what the delegate draws beside the text: a share, a severity
    MutedRole,
    PlainTextRole,
    EmulatedRole, ///< a time that is not silicon's
    SortRole,     ///< what the column is ordered by; invalid: comes last
    StrongRole,   ///< a sum, a title
    FileRole      ///< in files, as a number without separators where there is one
};

/// As a cell shows it: names out of files may be endless, and may hold ends of lines.
inline QString cellText(QString text)
{
    constexpr qsizetype kMost = 500;
    if (text.size() > kMost)
        text = text.left(kMost / 2) + QStringLiteral("…") + text.right(kMost / 2);
    return text;
}

template <class Row>
struct TableColumn
{
    QString title;
    std::function<QString(const Row&)> text;
    bool isNumber = false;
    std::function<QVariant(const Row&, int role)> extra = {};
    std::function<QVariant(const Row&)> key = {}; ///< orders the rows; empty: the text does
    /// Of the key, which files have instead of the text: "B"; empty for a count. Null: the text.
    QString unit = {};
    /// Title and unit where the rows decide, asked of the first one.
    std::function<std::pair<QString, QString>(const Row&)> heading = {};
};

template <class Row>
class TableModel : public QAbstractTableModel
{
public:
    explicit TableModel(std::vector<TableColumn<Row>> columns, QObject* parent = nullptr)
        : QAbstractTableModel(parent)
        , m_columns(std::move(columns))
    {
    }

    void setRows(std::vector<Row> rows)
    {
        beginResetModel();
        m_rows = std::move(rows);
        endResetModel();
    }
    const std::vector<Row>& rows() const { return m_rows; }
    /// Null for an index that was made before the rows were replaced and points behind them.
    const Row* row(const QModelIndex& index) const
    {
        const bool isThere = index.isValid() && static_cast<size_t>(index.row()) < m_rows.size();
        return isThere ? &m_rows[static_cast<size_t>(index.row())] : nullptr;
    }

    int rowCount(const QModelIndex& parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
    }
    int columnCount(const QModelIndex& parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
    }
    QVariant data(const QModelIndex& index, int role) const override
    {
        const Row* const shown = row(index);
        if (!shown || index.column() >= columnCount()) return {};
        const TableColumn<Row>& column = m_columns[static_cast<size_t>(index.column())];
        if (role == Qt::DisplayRole) return cellText(column.text(*shown));
        if (role == PlainTextRole) return column.text(*shown);
        if (role == FileRole && column.key && !column.unit.isNull()) return column.key(*shown);
        if (role == FileRole) return column.text(*shown);
        if (role == SortRole) return column.key ? column.key(*shown) : column.text(*shown);
        if (role == Qt::TextAlignmentRole)
            return QVariant(Qt::AlignVCenter | (column.isNumber ? Qt::AlignRight : Qt::AlignLeft));
        return column.extra ? column.extra(*shown, role) : QVariant();
    }
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override
    {
        if (orientation != Qt::Horizontal || section >= columnCount()) return {};
        const TableColumn<Row>& column = m_columns[static_cast<size_t>(section)];
        const bool isAsked = column.heading && !m_rows.empty();
        const auto [title, unit] =
            isAsked ? column.heading(m_rows.front()) : std::pair(column.title, column.unit);
        if (role == Qt::DisplayRole) return title;
        if (role == FileRole)
            return unit.isEmpty() ? title : title + QStringLiteral(" [%1]").arg(unit);
        if (role == Qt::InitialSortOrderRole) // the largest first
            return column.isNumber ? Qt::DescendingOrder : Qt::AscendingOrder;
        if (role == Qt::TextAlignmentRole)
            return QVariant(Qt::AlignVCenter | (column.isNumber ? Qt::AlignRight : Qt::AlignLeft));
        return {};
    }

private:
    std::vector<TableColumn<Row>> m_columns;
    std::vector<Row> m_rows;
};

} // namespace tenon::views
