// SPDX-License-Identifier: GPL-3.0-or-later
// Sheets about boards: a new board's address, and what a connection wants to know.
#pragma once

#include "app/workbench/file_question.h"
#include "app/workbench/overlay.h"
#include "views/pages/common/pill_tabs.h"
#include "views/presenters/boards_presenter.h"

#include <QGridLayout>

namespace tenon::app {

/// Asks for a board's address. Passwords are no part of it: they are asked for when connecting.
class AddBoardSheet : public Overlay
{
    Q_OBJECT
public:
    AddBoardSheet(const views::ThemeSource& themes, views::BoardsPresenter& boards,
                  AskForFile askForFile, QWidget* window);
    /// Keeps what was entered last, unless it became a board.
    void openForm();
    views::BoardRequest request() const;

private:
    QLineEdit* addField(const QString& label, const QString& hint);
    QWidget* buildIdentity();
    void chooseProfile();
    void showWay();
    void refresh();
    void submit();

    views::BoardsPresenter& m_boards;
    AskForFile m_askForFile;
    QGridLayout* m_grid;
    views::PillTabs* m_way;
    QLineEdit* m_name = nullptr;
    QLineEdit* m_host = nullptr;
    QLineEdit* m_port = nullptr;
    QLineEdit* m_user = nullptr;
    QLineEdit* m_identity = nullptr;
    QLineEdit* m_key = nullptr;
    QWidget* m_identityRow = nullptr;
    views::PillButton* m_profile;
    views::PillButton* m_add;
    views::ThemedLabel* m_note;
    QString m_profileName;
};

/// A host key or a secret; no is the default answer, and what is typed goes nowhere else.
class QuestionSheet : public Overlay
{
    Q_OBJECT
public:
    QuestionSheet(const views::ThemeSource& themes, views::BoardPrompt& prompt, QWidget* window);
    views::PillButton& yes() { return *m_yes; }
    views::PillButton& no() { return *m_no; }
    QLineEdit& answer() { return *m_answer; }

private:
    void refresh();
    void showHostKey(const views::BoardQuestion& question);
    void showSecret(const views::BoardQuestion& question);
    void submit();

    views::BoardPrompt& m_prompt;
    views::ThemedLabel* m_text;
    views::ThemedLabel* m_fingerprint;
    views::ThemedLabel* m_hint;
    QLineEdit* m_answer;
    views::PillButton* m_yes;
    views::PillButton* m_no;
};

/// Before a board is taken out of the list.
class ForgetSheet : public Overlay
{
    Q_OBJECT
public:
    ForgetSheet(const views::ThemeSource& themes, views::BoardsPresenter& boards, QWidget* window);
    void ask();

private:
    views::BoardsPresenter& m_boards;
    views::ThemedLabel* m_text;
    views::PillButton* m_no;
};

} // namespace tenon::app
