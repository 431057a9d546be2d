// SPDX-License-Identifier: GPL-3.0-or-later
// HeaderFold: parts of a panel's header that go into a menu where the row is too narrow for them.
#pragma once

#include "views/pages/common/pill_tabs.h"

#include <QHBoxLayout>

#include <vector>

namespace tenon::views {

/// The button at the end of the row that opens the menu; hidden while there is room for everything.
class HeaderFold : public PillButton
{
    Q_OBJECT
public:
    /// `parts` stand in `header` of `owner`, and give way in this order, so that `title` keeps its
    /// text. Of those that are no buttons the menu has nothing: a key must do what they do.
    HeaderFold(const ThemeSource& themes, QWidget& owner, QHBoxLayout& header, QWidget& title,
               const std::vector<QWidget*>& parts);
    /// Of the row with everything in the menu.
    int leastWidth() const { return neededWidth(m_parts.size()); }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// What shows and hides a part stays with the page: only the place around it folds.
    struct Part
    {
        QWidget* widget;
        QWidget* place;
    };
    void fit();
    int neededWidth(size_t foldedCount) const;
    int widthOf(const QLayoutItem& item, size_t foldedCount) const;
    void openMenu();

    QWidget& m_owner;
    QHBoxLayout& m_header;
    QWidget& m_title;
    std::vector<Part> m_parts;
    size_t m_foldedCount = 0;
};

} // namespace tenon::views
