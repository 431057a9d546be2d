// SPDX-License-Identifier: GPL-3.0-or-later
// Bars, rows and fits of footprints.
#include "views/models/footprint_rows.h"

#include "views/models/format.h"
#include "views/models/table_model.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace tenon::views {

namespace {

/// Colours of the parts in their order: flash and RAM do not share one, so a legend serves both.
constexpr int kFlashColours[] = {0, 1, 3, 5};
constexpr int kRamColours[] = {2, 6, 4, 5, 7};

std::vector<StackBar> bars(const Footprint& footprint,
                           std::vector<FootprintPart> ExecutorFootprint::*parts,
                           std::span<const int> colours)
{
    std::vector<StackBar> made;
    for (const ExecutorFootprint& executor : footprint.executors) {
        StackBar bar{executor.name};
        bar.isExact = executor.isExact;
        bar.problem = executor.problem;
        bar.isComplete = isComplete(executor.*parts);
        bar.totalBytes = knownBytes(executor.*parts);
        size_t index = 0;
        for (const FootprintPart& part : executor.*parts) {
            if (part.bytes > 0)
                bar.parts.push_back({part.name, part.bytes, colours[index % colours.size()]});
            ++index;
        }
        made.push_back(std::move(bar));
    }
    return made;
}

using Parts = std::vector<FootprintPart> ExecutorFootprint::*;

/// By the order of the first executor that is counted; a total below.
void addParts(const Footprint& footprint, const QString& memory, Parts parts,
              std::vector<PartRow>& rows)
{
    PartRow total{memory, QStringLiteral("total"), {}, true};
    const size_t first = rows.size();
    for (const ExecutorFootprint& executor : footprint.executors)
        for (const FootprintPart& part : executor.*parts) {
            const bool isKnown =
                std::any_of(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                            [&](const PartRow& row) { return row.part == part.name; });
            if (!isKnown) rows.push_back({memory, part.name, {}, false});
        }
    for (const ExecutorFootprint& executor : footprint.executors) {
        for (size_t r = first; r < rows.size(); ++r) {
            const auto found =
                std::find_if((executor.*parts).begin(), (executor.*parts).end(),
                             [&](const FootprintPart& part) { return part.name == rows[r].part; });
            const bool isCounted = executor.problem.isEmpty() && found != (executor.*parts).end();
            rows[r].bytes.push_back(isCounted ? found->bytes : FootprintPart::kUnknown);
        }
        total.bytes.push_back(executor.problem.isEmpty() ? knownBytes(executor.*parts)
                                                         : FootprintPart::kUnknown);
    }
    if (rows.size() > first) rows.push_back(std::move(total));
}

} // namespace

qint64 knownBytes(const std::vector<FootprintPart>& parts)
{
    qint64 total = 0;
    for (const FootprintPart& part : parts) total += std::max<qint64>(0, part.bytes);
    return total;
}

bool isComplete(const std::vector<FootprintPart>& parts)
{
    return std::all_of(parts.begin(), parts.end(),
                       [](const FootprintPart& part) { return part.bytes >= 0; });
}

std::vector<StackBar> flashBars(const Footprint& footprint)
{
    return bars(footprint, &ExecutorFootprint::flash, kFlashColours);
}

std::vector<StackBar> ramBars(const Footprint& footprint)
{
    return bars(footprint, &ExecutorFootprint::ram, kRamColours);
}

Footprint withoutConstants(Footprint footprint)
{
    for (ExecutorFootprint& executor : footprint.executors)
        std::erase_if(executor.flash, [](const FootprintPart& part) {
            return part.name == QLatin1String("constants");
        });
    return footprint;
}

std::vector<PartRow> partRows(const Footprint& footprint)
{
    std::vector<PartRow> rows;
    addParts(footprint, QStringLiteral("flash"), &ExecutorFootprint::flash, rows);
    addParts(footprint, QStringLiteral("RAM"), &ExecutorFootprint::ram, rows);
    return rows;
}

void PartsModel::setFootprint(const std::optional<Footprint>& footprint)
{
    beginResetModel();
    m_executors.clear();
    m_rows.clear();
    if (footprint) {
        m_rows = partRows(*footprint);
        for (const ExecutorFootprint& executor : footprint->executors)
            m_executors.push_back({executor.name, executor.isExact});
    }
    endResetModel();
}

void PartsModel::setCompared(int executor)
{
    const int compared = std::max(1, executor);
    if (compared == m_compared) return;
    beginResetModel();
    m_compared = compared;
    endResetModel();
}

int PartsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

/// Behind the executors the difference in bytes, and in percent.
int PartsModel::columnCount(const QModelIndex& parent) const
{
    if (parent.isValid()) return 0;
    return differenceColumn() + (m_executors.size() > 1 ? 2 : 0);
}

std::optional<qint64> PartsModel::difference(const PartRow& row) const
{
    const auto compared = static_cast<size_t>(m_compared);
    if (compared >= row.bytes.size() || row.bytes[0] < 0 || row.bytes[compared] < 0)
        return std::nullopt;
    return row.bytes[compared] - row.bytes[0];
}

QVariant PartsModel::key(const PartRow& row, int column) const
{
    if (column < kFirstExecutor) return column == kMemory ? row.memory : row.part;
    if (column < differenceColumn()) {
        const qint64 bytes = row.bytes[static_cast<size_t>(column - kFirstExecutor)];
        return bytes < 0 ? QVariant() : QVariant(bytes);
    }
    const std::optional<qint64> more = difference(row);
    if (!more) return {};
    if (column == differenceColumn()) return *more;
    return row.bytes[0] > 0
               ? QVariant(100.0 * static_cast<double>(*more) / static_cast<double>(row.bytes[0]))
               : QVariant();
}

QString PartsModel::text(const PartRow& row, int column) const
{
    const QVariant value = key(row, column);
    if (column < kFirstExecutor) return value.toString();
    if (!value.isValid())
        return column < differenceColumn() ? QStringLiteral("not known") : QString();
    if (column < differenceColumn()) return countText(value.toLongLong()) + QStringLiteral(" B");
    const bool isPercent = column > differenceColumn();
    // What rounds to nothing has no sign.
    const double more = isPercent ? std::round(value.toDouble() * 10) / 10 : value.toDouble();
    const QString sign = more < 0   ? QStringLiteral("−")
                         : more > 0 ? QStringLiteral("+")
                                    : QString();
    return isPercent ? sign + QString::number(std::abs(more), 'f', 1) + QStringLiteral(" %")
                     : sign + countText(std::abs(value.toLongLong())) + QStringLiteral(" B");
}

QVariant PartsModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || static_cast<size_t>(index.row()) >= m_rows.size() ||
        index.column() >= columnCount())
        return {};
    const PartRow& row = m_rows[static_cast<size_t>(index.row())];
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
    case PlainTextRole: return text(row, column);
    case SortRole: return key(row, column);
    case FileRole: {
        const QVariant value = key(row, column);
        return value.isValid() ? value : QVariant(QString());
    }
    case Qt::TextAlignmentRole:
        return QVariant(Qt::AlignVCenter |
                        (column < kFirstExecutor ? Qt::AlignLeft : Qt::AlignRight));
    case Qt::ToolTipRole: {
        const auto executor = static_cast<size_t>(column - kFirstExecutor);
        if (column < kFirstExecutor || executor >= m_executors.size()) return {};
        return m_executors[executor].isExact ? QStringLiteral("measured on the linked image")
                                             : QStringLiteral("estimated");
    }
    case StrongRole: return row.isTotal;
    default: return {};
    }
}

QVariant PartsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const bool isNumber = section >= kFirstExecutor;
    if (role == Qt::TextAlignmentRole)
        return QVariant(Qt::AlignVCenter | (isNumber ? Qt::AlignRight : Qt::AlignLeft));
    if (role == Qt::InitialSortOrderRole)
        return isNumber ? Qt::DescendingOrder : Qt::AscendingOrder;
    if (role != Qt::DisplayRole && role != FileRole) return {};
    if (section < kFirstExecutor)
        return section == kMemory ? QStringLiteral("Memory") : QStringLiteral("Part");
    const QString unit = role == FileRole ? QStringLiteral(" [B]") : QString();
    if (section < differenceColumn())
        return m_executors[static_cast<size_t>(section - kFirstExecutor)].name + unit;
    const auto compared = std::min(static_cast<size_t>(m_compared), m_executors.size() - 1);
    const QString names =
        QStringLiteral("%1 − %2").arg(m_executors[compared].name, m_executors[0].name);
    return section == differenceColumn() ? names + unit : names + QStringLiteral(" [%]");
}

QString Fit::text() const
{
    if (usedBytes == 0 && !isExact) return QStringLiteral("not known");
    const QString used = (isExact ? QString() : QStringLiteral("at least ")) + byteText(usedBytes);
    if (budgetBytes <= 0) return used;
    return used + QStringLiteral(" of ") + byteText(budgetBytes) +
           (fits() ? QString() : QStringLiteral(": does not fit"));
}

} // namespace tenon::views
