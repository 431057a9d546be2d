// SPDX-License-Identifier: GPL-3.0-or-later
// Panel: the rounded surface every part of a page stands on, with a title and a caption.
#pragma once

#include "views/theme/theme_source.h"

#include <QLabel>
#include <QVBoxLayout>
#include <QWidget>

#include <optional>
#include <vector>

namespace tenon::views {

/// What is left of a text that is longer than the room for it: of facts with " · " between them the
/// first ones that fit as a whole, and of one that does not
enum class Elision
{
    Words,  ///< its beginning; nothing where more than half is lost
    Title,  ///< its beginning, however little
    Name,   ///< both ends, by which files, paths and targets are known
    Content ///< as words where it reads like some, else as a name
};

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
    /// Shows what fits the width at hand; the whole text is the tooltip, and what its menu copies.
    void setElision(Elision elision);

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
    std::optional<Elision> m_elision;
};

/// Wrapped, and can be copied.
ThemedLabel* makeSentence(const ThemeSource& themes, ThemedLabel::Role role);
/// In line with the texts of a table below.
QHBoxLayout* indented(QWidget* part);

class HeaderFold;

class Panel : public QWidget
{
    Q_OBJECT
public:
    explicit Panel(const ThemeSource& themes, const QString& title = {}, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setCaption(const QString& caption);
    QVBoxLayout* content() { return m_content; }
    QHBoxLayout* header() { return m_header; }
    /// Parts of the header that go into a menu, in this order, where the title has no room beside
    /// them; to be said once, when they are all there.
    void foldHeader(const std::vector<QWidget*>& parts);
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void showEvent(QShowEvent* event) override;
    const ThemeSource& themes() const { return m_themes; }

private:
    const ThemeSource& m_themes;
    ThemedLabel* m_title;
    ThemedLabel* m_caption;
    QHBoxLayout* m_header;
    HeaderFold* m_fold = nullptr;
    QVBoxLayout* m_content;
};

} // namespace tenon::views
