// SPDX-License-Identifier: GPL-3.0-or-later
// FilmStrip: the followed node in every pass that touched it, as a row of small pictures.
#pragma once

#include "views/models/film.h"
#include "views/theme/theme_source.h"

#include <QListView>
#include <QStyledItemDelegate>

namespace tenon::views {

class FilmDelegate : public QStyledItemDelegate
{
    Q_OBJECT
public:
    FilmDelegate(const ThemeSource& themes, QObject* parent)
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

class FilmStrip : public QListView
{
    Q_OBJECT
public:
    FilmStrip(const ThemeSource& themes, FilmModel* film, QWidget* parent = nullptr);
    void showFrame(int row); ///< as the current one; says nothing
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

signals:
    void frameChosen(int row);

protected:
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void paintEvent(QPaintEvent* event) override;

private:
    const ThemeSource& m_themes;
    bool m_isQuiet = false;
};

} // namespace tenon::views
