// SPDX-License-Identifier: GPL-3.0-or-later
// Code text, its line numbers and its colours.
#include "views/pages/common/code_view.h"

#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>

#include <algorithm>
#include <array>

namespace tenon::views {

namespace {

constexpr std::array kTirWords = {
    "def",    "for",   "in",       "if",         "else",   "while",    "with",
    "return", "range", "parallel", "vectorized", "unroll", "unrolled", "serial",
    "block",  "grid",  "let",      "and",        "or",     "not",      "thread_binding"};
constexpr std::array kLlvmWords = {"define",        "declare", "ret",           "br",
                                   "label",         "load",    "store",         "getelementptr",
                                   "inbounds",      "call",    "tail",          "phi",
                                   "fadd",          "fmul",    "fsub",          "fdiv",
                                   "fcmp",          "icmp",    "add",           "mul",
                                   "sub",           "shl",     "and",           "or",
                                   "xor",           "select",  "bitcast",       "sext",
                                   "zext",          "trunc",   "insertelement", "extractelement",
                                   "shufflevector", "alloca",  "fast",          "contract",
                                   "nsw",           "nuw",     "align",         "exact",
                                   "attributes",    "target",  "switch",        "unreachable",
                                   "private",       "constant"};
constexpr std::array kScheduleWords = {"split",          "fuse",
                                       "reorder",        "tile",
                                       "vectorize",      "unroll",
                                       "parallel",       "bind",
                                       "cache_read",     "cache_write",
                                       "compute_at",     "reverse_compute_at",
                                       "compute_inline", "reverse_compute_inline",
                                       "rfactor",        "decompose_reduction",
                                       "set_scope",      "storage_align",
                                       "tensorize",      "pad"};
constexpr std::array kTypes = {
    "float",  "double",  "half",    "void",    "ptr",    "i1",    "i8",    "i16",   "i32",
    "i64",    "float16", "float32", "float64", "int8",   "int16", "int32", "int64", "uint8",
    "uint16", "uint32",  "uint64",  "bool",    "handle", "T",     "x"};

template <size_t N>
bool contains(const std::array<const char*, N>& words, QStringView word)
{
    return std::any_of(words.begin(), words.end(),
                       [&](const char* w) { return word == QLatin1String(w); });
}

/// Half the indentation of each line: a loop nest twelve deep still begins within a narrow pane.
QString halfIndented(const QString& text)
{
    QStringList lines = text.split(QLatin1Char('\n'));
    for (QString& line : lines) {
        qsizetype indent = 0;
        while (indent < line.size() && line[indent] == QLatin1Char(' ')) ++indent;
        line.remove(0, indent / 2);
    }
    return lines.join(QLatin1Char('\n'));
}

bool isWordChar(QChar c)
{
    return c.isLetterOrNumber() || c == QLatin1Char('_') || c == QLatin1Char('.') ||
           c == QLatin1Char('%') || c == QLatin1Char('@') || c == QLatin1Char('$');
}

} // namespace

class LineNumbers : public QWidget
{
public:
    explicit LineNumbers(CodeView* view)
        : QWidget(view)
        , m_view(view)
    {
    }

protected:
    void paintEvent(QPaintEvent* event) override { m_view->paintNumbers(event); }

private:
    CodeView* m_view;
};

CodeHighlighter::CodeHighlighter(QTextDocument* document, const ThemeSource& themes)
    : QSyntaxHighlighter(document)
    , m_themes(themes)
{
    connect(&themes, &ThemeSource::changed, this, [this] { rehighlight(); });
}

void CodeHighlighter::setLanguage(CodeLanguage language) { m_language = language; }

bool CodeHighlighter::isKeyword(QStringView word) const
{
    switch (m_language) {
    case CodeLanguage::Tir: return contains(kTirWords, word.startsWith(u"T.") ? word.mid(2) : word);
    case CodeLanguage::Llvm: return contains(kLlvmWords, word);
    case CodeLanguage::Schedule: return contains(kScheduleWords, word);
    case CodeLanguage::Assembly: break;
    }
    return false;
}

bool CodeHighlighter::isType(QStringView word) const
{
    return m_language != CodeLanguage::Assembly &&
           (contains(kTypes, word) || (word.startsWith(u"T.") && !isKeyword(word)));
}

void CodeHighlighter::paintWord(const QString& text, int start, int length)
{
    const Theme& t = m_themes.theme();
    const QStringView word = QStringView(text).mid(start, length);
    const bool isNumber = word[0].isDigit();
    const bool isFirstOfLine = text.left(start).trimmed().isEmpty();
    if (m_language == CodeLanguage::Assembly) {
        const bool isLabel =
            start + length < text.size() && text[start + length] == QLatin1Char(':');
        if (isLabel)
            setFormat(start, length, t.codeName);
        else if (word[0] == QLatin1Char('.'))
            setFormat(start, length, t.codeComment);
        else if (isFirstOfLine)
            setFormat(start, length, t.codeKeyword);
        else if (word[0] == QLatin1Char('%'))
            setFormat(start, length, t.codeType);
        else if (isNumber || word[0] == QLatin1Char('$'))
            setFormat(start, length, t.codeNumber);
        return;
    }
    if (isKeyword(word))
        setFormat(start, length, t.codeKeyword);
    else if (isNumber)
        setFormat(start, length, t.codeNumber);
    else if (isType(word))
        setFormat(start, length, t.codeType);
    else if (word[0] == QLatin1Char('@'))
        setFormat(start, length, t.codeName);
}

void CodeHighlighter::highlightBlock(const QString& text)
{
    const Theme& t = m_themes.theme();
    const QChar comment = m_language == CodeLanguage::Llvm ? QLatin1Char(';') : QLatin1Char('#');
    for (int i = 0; i < text.size();) {
        if (text[i] == comment) {
            setFormat(i, static_cast<int>(text.size()) - i, t.codeComment);
            return;
        }
        if (text[i] == QLatin1Char('"')) {
            int end = static_cast<int>(text.indexOf(QLatin1Char('"'), i + 1));
            if (end < 0) end = static_cast<int>(text.size()) - 1;
            setFormat(i, end - i + 1, t.codeString);
            i = end + 1;
            continue;
        }
        if (!isWordChar(text[i])) {
            ++i;
            continue;
        }
        int end = i;
        while (end < text.size() && isWordChar(text[end])) ++end;
        paintWord(text, i, end - i);
        i = end;
    }
}

CodeView::CodeView(const ThemeSource& themes, QWidget* parent)
    : QPlainTextEdit(parent)
    , m_themes(themes)
    , m_highlighter(new CodeHighlighter(document(), themes))
    , m_numbers(new LineNumbers(this))
{
    setReadOnly(true);
    setLineWrapMode(QPlainTextEdit::NoWrap);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setFrameShape(QFrame::NoFrame);
    connect(&themes, &ThemeSource::changed, this, &CodeView::applyTheme);
    connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
        if (dy)
            m_numbers->scroll(0, dy);
        else
            m_numbers->update(0, rect.y(), m_numbers->width(), rect.height());
    });
    connect(this, &QPlainTextEdit::cursorPositionChanged, this, [this] {
        if (!m_isQuiet) emit lineEntered(textCursor().blockNumber() + 1);
    });
    applyTheme();
}

void CodeView::applyTheme()
{
    setFont(m_themes.theme().code);
    markLines(m_marked, false);
}

void CodeView::setCode(const QString& text, CodeLanguage language)
{
    m_isQuiet = true;
    m_marked.clear();
    m_highlighter->setLanguage(language);
    setPlainText(language == CodeLanguage::Tir ? halfIndented(text) : text);
    setExtraSelections({});
    m_isQuiet = false;
    setViewportMargins(numberWidth(), 2, 0, 0);
    m_numbers->update();
}

void CodeView::markLines(const std::vector<int>& lines, bool shouldScroll)
{
    m_marked = lines;
    QList<QTextEdit::ExtraSelection> selections;
    for (const int line : lines) {
        const QTextBlock block = document()->findBlockByNumber(line - 1);
        if (!block.isValid()) continue;
        QTextEdit::ExtraSelection selection;
        selection.format.setBackground(m_themes.theme().accentTint);
        selection.format.setProperty(QTextFormat::FullWidthSelection, true);
        selection.cursor = QTextCursor(block);
        selections << selection;
    }
    setExtraSelections(selections);
    if (shouldScroll && !lines.empty()) {
        const int visible = std::max(1, viewport()->height() / std::max(1, fontMetrics().height()));
        verticalScrollBar()->setValue(std::max(0, lines.front() - 1 - visible / 3));
        scrollToIndent(document()->findBlockByNumber(lines.front() - 1).text());
    }
}

/// The left edge stays in sight, unless a line so deep in a loop nest begins right of the pane.
void CodeView::scrollToIndent(const QString& line)
{
    constexpr int kContext = 4;
    constexpr int kLeastShown = 12; ///< columns of the line
    qsizetype indent = 0;
    while (indent < line.size() && line[indent] == QLatin1Char(' ')) ++indent;
    const int column = fontMetrics().horizontalAdvance(QLatin1Char(' '));
    const int start = static_cast<int>(indent) * column;
    const bool isInView = start + kLeastShown * column < viewport()->width();
    horizontalScrollBar()->setValue(isInView ? 0 : start - kContext * column);
}

int CodeView::numberWidth() const
{
    const int digits = std::max<int>(2, static_cast<int>(QString::number(blockCount()).size()));
    return fontMetrics().horizontalAdvance(QLatin1Char('0')) * digits + 16;
}

void CodeView::resizeEvent(QResizeEvent* event)
{
    QPlainTextEdit::resizeEvent(event);
    const QRect area = contentsRect();
    m_numbers->setGeometry(area.left(), area.top() + 2, numberWidth(), area.height() - 2);
}

void CodeView::paintEvent(QPaintEvent* event)
{
    QPlainTextEdit::paintEvent(event);
    if (!toPlainText().isEmpty() || placeholderText().isEmpty()) return;
}

void CodeView::paintNumbers(QPaintEvent* event)
{
    const Theme& t = m_themes.theme();
    QPainter painter(m_numbers);
    painter.fillRect(event->rect(), t.field);
    if (document()->isEmpty()) return;
    painter.setFont(t.code);
    painter.setPen(t.faint);
    QTextBlock block = firstVisibleBlock();
    double top = blockBoundingGeometry(block).translated(contentOffset()).top();
    while (block.isValid() && top <= event->rect().bottom()) {
        const double height = blockBoundingRect(block).height();
        painter.drawText(QRectF(0, top, m_numbers->width() - 8, height),
                         Qt::AlignRight | Qt::AlignVCenter,
                         QString::number(block.blockNumber() + 1));
        top += height;
        block = block.next();
    }
}

} // namespace tenon::views
