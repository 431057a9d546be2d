// SPDX-License-Identifier: GPL-3.0-or-later
// Sheets about boards: a new board's address, and what a connection wants to know.
#pragma once

#include "views/frame/file_question.h"
#include "views/frame/overlay.h"
#include "views/pages/common/pill_tabs.h"
#include "views/presenters/boards_presenter.h"

#include <QGridLayout>

namespace tenon::views {

/// Asks for a board's address. Passwords are no part of it: they are asked for when connecting.
class AddBoardSheet : public Overlay
{
    Q_OBJECT
public:
    AddBoardSheet(const ThemeSource& themes, BoardsPresenter& boards, AskForFile askForFile,
                  QWidget* window);
    /// Keeps what was entered last, unless it became a board.
    void openForm();
    BoardRequest request() const;

private:
    QLineEdit* addField(const QString& label, const QString& hint);
    QWidget* buildIdentity();
    void chooseProfile();
    std::vector<QLineEdit*> fields() const;
    bool isShown(const QWidget* field) const;
    void showWay();
    void refresh();
    void submit();

    BoardsPresenter& m_boards;
    AskForFile m_askForFile;
    QGridLayout* m_grid;
    PillTabs* m_way;
    QLineEdit* m_name = nullptr;
    QLineEdit* m_host = nullptr;
    QLineEdit* m_port = nullptr;
    QLineEdit* m_user = nullptr;
    QLineEdit* m_identity = nullptr;
    QLineEdit* m_key = nullptr;
    QLineEdit* m_project = nullptr;
    QLineEdit* m_flash = nullptr;
    QWidget* m_identityRow = nullptr;
    PillButton* m_profile;
    PillButton* m_add;
    ThemedLabel* m_note;
    QString m_profileName;
};

/// A host key or a secret; no is the default answer, and what is typed goes nowhere else.
class QuestionSheet : public Overlay
{
    Q_OBJECT
public:
    QuestionSheet(const ThemeSource& themes, BoardPrompt& prompt, QWidget* window);
    PillButton& yes() { return *m_yes; }
    PillButton& no() { return *m_no; }
    QLineEdit& answer() { return *m_answer; }

private:
    void refresh();
    void showHostKey(const BoardQuestion& question);
    void showSecret(const BoardQuestion& question);
    void submit();

    BoardPrompt& m_prompt;
    ThemedLabel* m_text;
    ThemedLabel* m_fingerprint;
    ThemedLabel* m_hint;
    QLineEdit* m_answer;
    PillButton* m_yes;
    PillButton* m_no;
};

/// Before a board is taken out of the list.
class ForgetSheet : public Overlay
{
    Q_OBJECT
public:
    ForgetSheet(const ThemeSource& themes, BoardsPresenter& boards, QWidget* window);
    void ask();

private:
    BoardsPresenter& m_boards;
    ThemedLabel* m_text;
    PillButton* m_no;
};

} // namespace tenon::views
