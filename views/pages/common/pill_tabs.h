// SPDX-License-Identifier: GPL-3.0-or-later
// PillTabs and PillButton: the window's tabs and its one primary button.
#pragma once

#include "views/theme/theme_source.h"

#include <QPushButton>
#include <QTabBar>

namespace tenon::views {

class PillTabs : public QTabBar
{
    Q_OBJECT
public:
    enum class Size
    {
        Large, ///< perspectives
        Small  ///< tabs inside a panel
    };
    PillTabs(const ThemeSource& themes, Size size, QWidget* parent = nullptr);
    /// Only as wide as the words need, where room is short.
    void setTight(bool isTight);

protected:
    QSize tabSizeHint(int index) const override;
    QSize minimumTabSizeHint(int index) const override;
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    const ThemeSource& m_themes;
    Size m_size;
    bool m_isTight = false;
    int m_hovered = -1;
};

class PillButton : public QPushButton
{
    Q_OBJECT
public:
    enum class Look
    {
        Primary, ///< filled with the accent
        Plain,   ///< a line around it
        Quiet    ///< text only
    };
    PillButton(const ThemeSource& themes, Look look, const QString& text,
               QWidget* parent = nullptr);
    /// Shown right of the text, weaker.
    void setShortcutText(const QString& text);
    void setIconName(const QString& name);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QColor ink() const;
    const ThemeSource& m_themes;
    Look m_look;
    QString m_shortcutText;
    QString m_iconName;
    bool m_isHovered = false;
};

} // namespace tenon::views
