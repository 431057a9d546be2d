// SPDX-License-Identifier: GPL-3.0-or-later
// Phases and passes as a two-level tree; a phase's index has no internal id, a pass carries its
// phase plus one.
#include "views/models/pass_model.h"

#include "views/models/format.h"
#include "views/models/table_model.h"

#include <algorithm>

namespace tenon::views {

void PassModel::setDocument(DocumentPtr document)
{
    beginResetModel();
    m_document = std::move(document);
    m_touching.clear();
    rebuild();
    endResetModel();
}

void PassModel::setFilter(const QString& filter)
{
    if (filter == m_filter) return;
    beginResetModel();
    m_filter = filter;
    rebuild();
    endResetModel();
}

void PassModel::setTouching(std::vector<int> versions)
{
    if (versions == m_touching) return;
    const bool isFiltering = m_filter.contains(QLatin1String("touched:selection"));
    if (isFiltering) beginResetModel();
    m_touching = std::move(versions);
    if (isFiltering) {
        rebuild();
        endResetModel();
        return;
    }
    for (int phase = 0; phase < rowCount(); ++phase) {
        const QModelIndex parent = index(phase, 0);
        if (rowCount(parent) > 0)
            emit dataChanged(index(0, 0, parent), index(rowCount(parent) - 1, 0, parent),
                             {TouchesRole});
    }
}

bool PassModel::matches(const PassStep& step, int version) const
{
    for (const QString& word : m_filter.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        if (word == QLatin1String("touched:selection")) {
            if (std::find(m_touching.begin(), m_touching.end(), version) == m_touching.end())
                return false;
            continue;
        }
        const bool inRules =
            std::any_of(step.changes.begin(), step.changes.end(), [&](const core::Change& c) {
                return QString::fromStdString(c.rule).contains(word, Qt::CaseInsensitive);
            });
        if (!inRules && !step.name.contains(word, Qt::CaseInsensitive) &&
            !step.phase.contains(word, Qt::CaseInsensitive))
            return false;
    }
    return true;
}

void PassModel::rebuild()
{
    m_phases.clear();
    m_mostChanges = 1;
    if (!m_document) return;
    for (size_t i = 0; i < m_document->passes.size(); ++i) {
        const PassStep& step = m_document->passes[i];
        m_mostChanges = std::max(m_mostChanges, step.changes.size());
        if (!matches(step, static_cast<int>(i) + 1)) continue;
        if (m_phases.empty() || m_phases.back().name != step.phase)
            m_phases.push_back({step.phase, {}});
        m_phases.back().passes.push_back(static_cast<int>(i));
    }
}

QModelIndex PassModel::indexOfVersion(int version) const
{
    for (size_t p = 0; p < m_phases.size(); ++p) {
        const auto& passes = m_phases[p].passes;
        const auto it = std::find(passes.begin(), passes.end(), version - 1);
        if (it != passes.end())
            return createIndex(static_cast<int>(it - passes.begin()), 0,
                               static_cast<quintptr>(p + 1));
    }
    return {};
}

QModelIndex PassModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent)) return {};
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row() + 1) : 0);
}

QModelIndex PassModel::parent(const QModelIndex& child) const
{
    if (!child.isValid() || child.internalId() == 0) return {};
    return createIndex(static_cast<int>(child.internalId()) - 1, 0, quintptr{0});
}

int PassModel::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid()) return static_cast<int>(m_phases.size());
    if (parent.internalId() != 0 || parent.column() != 0) return 0;
    if (static_cast<size_t>(parent.row()) >= m_phases.size()) return 0;
    return static_cast<int>(m_phases[static_cast<size_t>(parent.row())].passes.size());
}

int PassModel::columnCount(const QModelIndex&) const { return kColumnCount; }

QVariant PassModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= kColumnCount) return {};
    const QString titles[] = {QStringLiteral("Pass"), QStringLiteral("Phase"),
                              QStringLiteral("Changes"), QStringLiteral("Time"),
                              QStringLiteral("Largest difference")};
    if (role == FileRole && section == kTime) return QStringLiteral("Time [ms]");
    return role == Qt::DisplayRole || role == FileRole ? QVariant(titles[section]) : QVariant();
}

/// What stands in the columns that the list paints itself.
QVariant PassModel::columnData(const PassStep& step, int column, int role)
{
    if (role != Qt::DisplayRole && role != FileRole) return {};
    if (column == kPhase) return step.phase;
    if (column == kError)
        return step.maxAbsError ? QVariant(QString::number(*step.maxAbsError, 'g', 6)) : QVariant();
    if (column == kChanges) return static_cast<qint64>(step.changes.size());
    return role == FileRole ? QVariant(step.ms) : QVariant(durationText(step.ms * 1000));
}

namespace {

/// Of a rewrite, which of them it is and its rule: "3/14  fuse".
QString shortTitle(const PassStep& step)
{
    if (step.rewrites == 0) return step.name;
    QString which = QString::number(step.firstRewrite);
    if (step.lastRewrite != step.firstRewrite)
        which += QStringLiteral("–") + QString::number(step.lastRewrite);
    const QString rule =
        step.changes.empty() ? step.name : QString::fromStdString(step.changes.front().rule);
    return which + QLatin1Char('/') + QString::number(step.rewrites) + QStringLiteral("  ") + rule;
}

} // namespace

QVariant PassModel::passData(int pass, int role) const
{
    const PassStep& step = m_document->passes[static_cast<size_t>(pass)];
    switch (role) {
    case Qt::DisplayRole: return shortTitle(step);
    case Qt::AccessibleTextRole:
        return step.title() + QStringLiteral(", ") +
               (step.isSkipped ? QStringLiteral("skipped")
                : step.isChanged
                    ? countOf(static_cast<qint64>(step.changes.size()), QStringLiteral("change"))
                    : QStringLiteral("nothing changed"));
    case Qt::ToolTipRole:
        return step.isSkipped
                   ? step.title() +
                         QStringLiteral(
                             "\nskipped: the optimization level or an option leaves it out")
                   : step.title() + QLatin1Char('\n') +
                         countOf(static_cast<qint64>(step.changes.size()),
                                 QStringLiteral("change")) +
                         QStringLiteral(" in ") + durationText(step.ms * 1000) +
                         (step.maxAbsError
                              ? QStringLiteral("\nresults differ by at most %1 from the imported "
                                               "model's")
                                    .arg(*step.maxAbsError, 0, 'g', 3)
                              : QString());
    case IsPhaseRole: return false;
    case IsRewriteRole: return step.rewrites > 0;
    case IsBrokenRole: return pass == m_document->brokenPass;
    case ChangeCountRole: return static_cast<int>(step.changes.size());
    case ShareRole:
        return static_cast<double>(step.changes.size()) / static_cast<double>(m_mostChanges);
    case VersionRole: return pass + 1;
    case IsNoOpRole: return step.isSkipped || !step.isChanged;
    case TouchesRole:
        return std::find(m_touching.begin(), m_touching.end(), pass + 1) != m_touching.end();
    default: return {};
    }
}

QVariant PassModel::data(const QModelIndex& index, int role) const
{
    // Made before the rows were replaced: it may point behind them.
    if (!index.isValid() || !hasIndex(index.row(), index.column(), parent(index))) return {};
    if (index.internalId() != 0) {
        const Phase& phase = m_phases[static_cast<size_t>(index.internalId()) - 1];
        const int pass = phase.passes[static_cast<size_t>(index.row())];
        if (index.column() == kName) return passData(pass, role);
        return columnData(m_document->passes[static_cast<size_t>(pass)], index.column(), role);
    }
    if (index.column() != kName) return {};
    if (role == Qt::DisplayRole) return m_phases[static_cast<size_t>(index.row())].name;
    if (role == IsPhaseRole) return true;
    return {};
}

Qt::ItemFlags PassModel::flags(const QModelIndex& index) const
{
    if (!index.isValid()) return Qt::NoItemFlags;
    return index.internalId() == 0 ? Qt::ItemIsEnabled : Qt::ItemIsEnabled | Qt::ItemIsSelectable;
}

} // namespace tenon::views
