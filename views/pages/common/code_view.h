// SPDX-License-Identifier: GPL-3.0-or-later
// CodeView: read-only code with line numbers, highlighting and marked lines.
#pragma once

#include "views/theme/theme_source.h"

#include <QPlainTextEdit>
#include <QSyntaxHighlighter>

namespace tenon::views {

enum class CodeLanguage
{
    Tir,
    Llvm,
    Assembly,
    Schedule
};

class CodeHighlighter : public QSyntaxHighlighter
{
    Q_OBJECT
public:
    CodeHighlighter(QTextDocument* document, const ThemeSource& themes);
    void setLanguage(CodeLanguage language);

protected:
    void highlightBlock(const QString& text) override;

private:
    void paintWord(const QString& text, int start, int length);
    bool isKeyword(QStringView word) const;
    bool isType(QStringView word) const;

    const ThemeSource& m_themes;
    CodeLanguage m_language = CodeLanguage::Tir;
};

class CodeView : public QPlainTextEdit
{
    Q_OBJECT
public:
    explicit CodeView(const ThemeSource& themes, QWidget* parent = nullptr);

    void setCode(const QString& text, CodeLanguage language);
    /// Marks 1-based lines; scrolls to the first when asked.
    void markLines(const std::vector<int>& lines, bool shouldScroll);

signals:
    void lineEntered(int line); ///< 1-based, by mouse or keyboard

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    friend class LineNumbers;
    void applyTheme();
    void scrollToIndent(const QString& line);
    int numberWidth() const;
    void paintNumbers(QPaintEvent* event);

    const ThemeSource& m_themes;
    CodeHighlighter* m_highlighter;
    QWidget* m_numbers;
    std::vector<int> m_marked;
    bool m_isQuiet = false;
};

} // namespace tenon::views
