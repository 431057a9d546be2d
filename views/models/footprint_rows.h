// SPDX-License-Identifier: GPL-3.0-or-later
// The Executors page: bars and their table twin are made from the same footprint.
#pragma once

#include "views/models/footprint.h"

#include <QAbstractTableModel>

#include <optional>

namespace tenon::views {

/// A stretch of a bar.
struct StackPart
{
    QString name;
    qint64 bytes = 0;
    int colour = 0; ///< index into the theme's families
};

/// One executor's bar.
struct StackBar
{
    QString label;
    std::vector<StackPart> parts;
    qint64 totalBytes = 0;
    bool isExact = false;
    bool isComplete = false; ///< false: there are parts nobody knows yet
    QString problem;
};

std::vector<StackBar> flashBars(const Footprint& footprint);
std::vector<StackBar> ramBars(const Footprint& footprint);

/// Without the constants, which are the same for every executor and hide what is not.
Footprint withoutConstants(Footprint footprint);

/// One part of the image, of every executor.
struct PartRow
{
    QString memory; ///< "flash" or "RAM"
    QString part;
    std::vector<qint64> bytes; ///< by executor
    bool isTotal = false;
};
std::vector<PartRow> partRows(const Footprint& footprint);

/// Parts as rows, executors as columns, and what the compared one takes more than the first.
class PartsModel : public QAbstractTableModel
{
public:
    enum Column
    {
        kMemory,
        kPart,
        kFirstExecutor
    };
    using QAbstractTableModel::QAbstractTableModel;

    void setFootprint(const std::optional<Footprint>& footprint);
    /// Of the columns of differences; the first one is compared with itself as 1.
    void setCompared(int executor);
    const std::vector<PartRow>& rows() const { return m_rows; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    int differenceColumn() const { return kFirstExecutor + static_cast<int>(m_executors.size()); }
    std::optional<qint64> difference(const PartRow& row) const;
    QVariant key(const PartRow& row, int column) const;
    QString text(const PartRow& row, int column) const;

    struct Executor
    {
        QString name;
        bool isExact = false;
    };
    std::vector<Executor> m_executors;
    std::vector<PartRow> m_rows;
    int m_compared = 1;
};

/// How a bar stands to a board's budget.
struct Fit
{
    qint64 usedBytes = 0;
    qint64 budgetBytes = 0;
    bool isExact = false;
    double share() const
    {
        return budgetBytes > 0 ? static_cast<double>(usedBytes) / static_cast<double>(budgetBytes)
                               : 0;
    }
    bool fits() const { return budgetBytes <= 0 || usedBytes <= budgetBytes; }
    /// "57.6 KiB of 192 KiB", "4.7 MiB of 320 KiB: does not fit", "at least 4 KiB of ...".
    QString text() const;
};

} // namespace tenon::views
