// SPDX-License-Identifier: GPL-3.0-or-later
// Panel: the rounded surface every part of a page stands on, with a title and a caption.
#pragma once

#include "views/theme/theme_source.h"

#include <QLabel>
#include <QVBoxLayout>
#include <QWidget>

namespace tenon::views {

/// A label that takes its font and colour from the theme by role.
class ThemedLabel : public QLabel
{
    Q_OBJECT
public:
    enum class Role
    {
        Body,
        Strong,
        Secondary,
        Faint,
        Document,
        Heading,
        Code,
        Error,
        Link ///< a click on it asks with linkActivated
    };
    ThemedLabel(const ThemeSource& themes, Role role, const QString& text = {},
                QWidget* parent = nullptr);
    void setRole(Role role);
    /// Long words of a wrapped text go on in the next line.
    void setText(const QString& text);
    QString text() const;
    /// Shows `text` cut in the middle to the width at hand; the whole text is the tooltip, and what
    /// its menu copies.
    void setElided(bool isElided);

protected:
    bool event(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

private:
    void apply();
    void copy() const;
    const ThemeSource& m_themes;
    Role m_role;
    bool m_isElided = false;
};

/// Wrapped, and can be copied.
ThemedLabel* makeSentence(const ThemeSource& themes, ThemedLabel::Role role);
/// In line with the texts of a table below.
QHBoxLayout* indented(QWidget* part);

class Panel : public QWidget
{
    Q_OBJECT
public:
    explicit Panel(const ThemeSource& themes, const QString& title = {}, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setCaption(const QString& caption);
    QVBoxLayout* content() { return m_content; }
    QHBoxLayout* header() { return m_header; }

protected:
    void paintEvent(QPaintEvent* event) override;
    const ThemeSource& themes() const { return m_themes; }

private:
    const ThemeSource& m_themes;
    ThemedLabel* m_title;
    ThemedLabel* m_caption;
    QHBoxLayout* m_header;
    QVBoxLayout* m_content;
};

} // namespace tenon::views
