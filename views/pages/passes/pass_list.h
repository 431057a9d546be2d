// SPDX-License-Identifier: GPL-3.0-or-later
// PassList: the tree of passes with bars for change counts; no-op passes are dimmed.
#pragma once

#include "views/theme/theme_source.h"

#include <QStyledItemDelegate>
#include <QTreeView>

namespace tenon::views {

class PassDelegate : public QStyledItemDelegate
{
    Q_OBJECT
public:
    PassDelegate(const ThemeSource& themes, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_themes(themes)
    {
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    const ThemeSource& m_themes;
};

class PassList : public QTreeView
{
    Q_OBJECT
public:
    PassList(const ThemeSource& themes, QAbstractItemModel* model, QWidget* parent = nullptr);
    void showCurrent(const QModelIndex& index);

signals:
    void versionChosen(int version);

protected:
    void drawBranches(QPainter*, const QRect&, const QModelIndex&) const override {}
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;

private:
    bool m_isQuiet = false;
};

} // namespace tenon::views
