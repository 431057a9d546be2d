// SPDX-License-Identifier: GPL-3.0-or-later
// PassModel: the passes of a document as a tree of phases, with the filter applied.
#pragma once

#include "views/models/document.h"

#include <QAbstractItemModel>

namespace tenon::views {

class PassModel : public QAbstractItemModel
{
    Q_OBJECT
public:
    enum Role
    {
        IsPhaseRole = Qt::UserRole + 100, ///< behind those of tables
        ChangeCountRole,
        ShareRole,    ///< change count relative to the busiest pass, 0..1
        VersionRole,  ///< index of the module version after this pass
        IsNoOpRole,   ///< skipped, or nothing changed
        TouchesRole,  ///< touches the selection
        IsBrokenRole, ///< changes the results too much
        IsRewriteRole ///< a part of its pass
    };

    enum Column
    {
        kName,
        kPhase,
        kChanges,
        kTime,
        kError, ///< largest difference of the results, where it was checked
        kColumnCount
    };

    using QAbstractItemModel::QAbstractItemModel;

    void setDocument(DocumentPtr document);
    /// Words looked for in pass names and rules; `touched:selection` keeps passes in `touching`.
    void setFilter(const QString& filter);
    void setTouching(std::vector<int> versions);
    QModelIndex indexOfVersion(int version) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    struct Phase
    {
        QString name;
        std::vector<int> passes; ///< indices into Document::passes
    };
    void rebuild();
    bool matches(const PassStep& step, int version) const;
    QVariant passData(int pass, int role) const;
    static QVariant columnData(const PassStep& step, int column, int role);

    DocumentPtr m_document;
    QString m_filter;
    std::vector<int> m_touching;
    std::vector<Phase> m_phases;
    size_t m_mostChanges = 1;
};

} // namespace tenon::views
