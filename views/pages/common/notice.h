// SPDX-License-Identifier: GPL-3.0-or-later
// Notices inside a pane: an empty pane that teaches, and a banner for what failed.
#pragma once

#include "views/pages/common/panel.h"
#include "views/pages/common/pill_tabs.h"

namespace tenon::views {

/// Says what will appear here and offers the action that makes it appear.
class EmptyNotice : public QWidget
{
    Q_OBJECT
public:
    EmptyNotice(const ThemeSource& themes, const QString& title, const QString& text,
                const QString& action, QWidget* parent = nullptr);
    void setText(const QString& title, const QString& text);
    void setActionEnabled(bool isEnabled);

signals:
    void triggered();

protected:
    void hideEvent(QHideEvent* event) override;

private:
    ThemedLabel* m_title;
    ThemedLabel* m_text;
    PillButton* m_button;
};

/// A bar above the pages: a title, a sentence and buttons; hidden until there is something to say.
class NoticeBar : public QWidget
{
    Q_OBJECT
public:
    enum class Kind
    {
        News,
        Failure,
    };
    NoticeBar(const ThemeSource& themes, Kind kind, QWidget* parent);

protected:
    /// Behind the text and the buttons that are there.
    PillButton* addButton(PillButton::Look look, const QString& text);
    ThemedLabel& title() { return *m_title; }
    ThemedLabel& text() { return *m_text; }
    void paintEvent(QPaintEvent* event) override;

private:
    const ThemeSource& m_themes;
    Kind m_kind;
    ThemedLabel* m_title;
    ThemedLabel* m_text;
};

/// Non-modal: what failed, why, and a way to close it.
class Banner : public NoticeBar
{
    Q_OBJECT
public:
    explicit Banner(const ThemeSource& themes, QWidget* parent = nullptr);
    /// What else can be seen of it; an empty title hides the banner.
    struct Leads
    {
        bool hasNode = false;
        bool hasIssues = false;
    };
    void showMessage(const QString& title, const QString& text, Leads leads);

signals:
    void nodeRequested();
    void dismissed();
    void detailsRequested();

private:
    PillButton* m_node;
    PillButton* m_issues;
};

} // namespace tenon::views
