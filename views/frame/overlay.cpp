// SPDX-License-Identifier: GPL-3.0-or-later
// Palette, shortcut sheet and log as overlays.
#include "views/frame/overlay.h"

#include <QApplication>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>

#include <algorithm>

namespace tenon::views {

namespace {

constexpr size_t kShownEntries = 60;
constexpr int kEntryHeight = 32;

/// Every character of `query` in order; lower is better, 0 is equal, -1 is no match.
int matchRank(const QString& text, const QString& query)
{
    if (query.isEmpty()) return 0;
    const auto at = text.indexOf(query, 0, Qt::CaseInsensitive);
    if (at >= 0) return text.size() == query.size() ? 0 : 1 + static_cast<int>(at);
    qsizetype from = 0;
    for (const QChar c : query) {
        if (c.isSpace()) continue;
        from = text.indexOf(c, from, Qt::CaseInsensitive);
        if (from < 0) return -1;
        ++from;
    }
    return 1000 + static_cast<int>(text.size());
}

class EntryDelegate : public QStyledItemDelegate
{
public:
    EntryDelegate(const ThemeSource& themes, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_themes(themes)
    {
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override
    {
        const Theme& t = m_themes.theme();
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const bool isSelected = option.state & QStyle::State_Selected;
        if (isSelected) {
            painter->setPen(Qt::NoPen);
            painter->setBrush(t.accentTint);
            painter->drawRoundedRect(QRectF(option.rect).adjusted(2, 1, -2, -1), 5, 5);
        }
        const QRect area = option.rect.adjusted(14, 0, -14, 0);
        const QString detail = index.data(Qt::UserRole).toString();
        const int detailWidth =
            detail.isEmpty() ? 0 : QFontMetrics(t.secondaryFont).horizontalAdvance(detail) + 12;
        painter->setFont(t.body);
        painter->setPen(!index.data(Qt::UserRole + 1).toBool() ? t.faint
                        : isSelected                           ? t.accentInk
                                                               : t.text);
        painter->drawText(area.adjusted(0, 0, -detailWidth, 0), Qt::AlignLeft | Qt::AlignVCenter,
                          QFontMetrics(t.body).elidedText(index.data().toString(), Qt::ElideMiddle,
                                                          area.width() - detailWidth));
        painter->setFont(t.secondaryFont);
        painter->setPen(t.secondary);
        painter->drawText(area, Qt::AlignRight | Qt::AlignVCenter, detail);
        painter->restore();
    }
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override
    {
        return {200, kEntryHeight};
    }

private:
    const ThemeSource& m_themes;
};

} // namespace

Overlay::Overlay(const ThemeSource& themes, QWidget* window, QSize size)
    : QWidget(window)
    , m_themes(themes)
    , m_panel(new Panel(themes, {}, this))
    , m_size(size)
{
    window->installEventFilter(this);
    connect(qApp, &QApplication::focusChanged, this,
            [this](QWidget*, QWidget* now) { keepFocus(now); });
    hide();
}

/// Keys are for what lies on top: a button that is disabled as it is pressed passes the focus to
/// what is behind.
void Overlay::keepFocus(const QWidget* now)
{
    if (!isVisible() || !now || now == this || isAncestorOf(now) || now->window() != window())
        return;
    const QObjectList& beside = parentWidget()->children();
    const auto top = std::find_if(beside.rbegin(), beside.rend(), [](QObject* child) {
        const auto* overlay = qobject_cast<Overlay*>(child);
        return overlay && overlay->isVisible();
    });
    if (top != beside.rend() && *top == this) setFocus();
}

void Overlay::place()
{
    const QSize window = parentWidget()->size();
    setGeometry(QRect(QPoint(0, 0), window));
    const QSize size(std::min(m_size.width(), window.width() - 60),
                     std::min(m_size.height(), window.height() - 60));
    m_panel->setGeometry((window.width() - size.width()) / 2,
                         std::min(84, (window.height() - size.height()) / 2), size.width(),
                         size.height());
}

void Overlay::open()
{
    if (!isVisible()) m_focusBefore = QApplication::focusWidget();
    place();
    raise();
    show();
    setFocus();
}

void Overlay::close()
{
    if (!isVisible()) return;
    hide();
    if (m_focusBefore) m_focusBefore->setFocus();
    m_focusBefore = nullptr;
    emit closed();
}

void closeSheets(QWidget& window)
{
    for (auto* sheet : window.findChildren<Overlay*>()) sheet->close();
}

bool Overlay::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible()) place();
    return QWidget::eventFilter(watched, event);
}

void Overlay::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), QColor(8, 10, 14, m_themes.theme().isDark ? 130 : 70));
}

void Overlay::mousePressEvent(QMouseEvent* event)
{
    if (!m_panel->geometry().contains(event->pos())) close();
}

void Overlay::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape || event->key() == Qt::Key_Question) return close();
    QWidget::keyPressEvent(event);
}

void PaletteModel::load()
{
    beginResetModel();
    m_shown.clear();
    m_loaded.clear();
    for (const PaletteSource& source : m_sources)
        m_loaded.emplace_back(source.prefix, source.entries());
    endResetModel();
    setQuery({});
}

void PaletteModel::setQuery(const QString& query)
{
    beginResetModel();
    m_shown.clear();
    QString words = query.trimmed();
    QChar prefix;
    for (const auto& [own, entries] : m_loaded)
        if (!words.isEmpty() && words[0] == own) prefix = own;
    if (!prefix.isNull()) words = words.mid(1).trimmed();
    std::vector<std::pair<int, const PaletteEntry*>> found;
    for (const auto& [own, entries] : m_loaded) {
        if (!prefix.isNull() && own != prefix) continue;
        if (prefix.isNull() && words.isEmpty() && own != QLatin1Char('>')) continue;
        for (const PaletteEntry& entry : entries) {
            const int rank = matchRank(entry.text, words);
            if (rank >= 0) found.emplace_back(rank, &entry);
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < found.size() && i < kShownEntries; ++i)
        m_shown.push_back(found[i].second);
    endResetModel();
}

const PaletteEntry* PaletteModel::entry(int row) const
{
    return row >= 0 && row < rowCount() ? m_shown[static_cast<size_t>(row)] : nullptr;
}

int PaletteModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
}

QVariant PaletteModel::data(const QModelIndex& index, int role) const
{
    const PaletteEntry* found = entry(index.row());
    if (!found) return {};
    if (role == Qt::DisplayRole) return found->text;
    if (role == Qt::UserRole) return found->detail;
    if (role == Qt::UserRole + 1) return found->isEnabled;
    return {};
}

CommandPalette::CommandPalette(const ThemeSource& themes, QWidget* window,
                               std::vector<PaletteSource> sources)
    : Overlay(themes, window, {620, 440})
    , m_query(new QLineEdit)
    , m_list(new QListView)
    , m_model(new PaletteModel(this))
{
    panel().setTitle(tr("Command palette"));
    panel().setCaption(tr("Esc closes"));
    m_model->setSources(std::move(sources));
    m_query->setPlaceholderText(tr("command, or  @ node   # pass   $ tensor"));
    m_query->setAccessibleName(tr("Command palette"));
    m_query->installEventFilter(this);
    m_list->setModel(m_model);
    m_list->setItemDelegate(new EntryDelegate(themes, m_list));
    m_list->setAccessibleName(tr("Commands"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->viewport()->setAutoFillBackground(false);
    panel().content()->setContentsMargins(10, 0, 10, 10);
    panel().content()->addWidget(m_query);
    panel().content()->addWidget(m_list, 1);
    connect(m_query, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_model->setQuery(text);
        m_list->setCurrentIndex(m_model->index(0));
    });
    connect(m_list, &QListView::clicked, this, [this] { runCurrent(); });
}

void CommandPalette::openWith(const QString& text)
{
    m_model->load();
    m_query->setText(text);
    m_model->setQuery(text);
    m_list->setCurrentIndex(m_model->index(0));
    open();
    m_query->setFocus();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_query || event->type() != QEvent::KeyPress)
        return Overlay::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    const int row = m_list->currentIndex().row();
    switch (key->key()) {
    case Qt::Key_Down:
        m_list->setCurrentIndex(m_model->index(std::min(row + 1, m_model->rowCount() - 1)));
        return true;
    case Qt::Key_Up: m_list->setCurrentIndex(m_model->index(std::max(row - 1, 0))); return true;
    case Qt::Key_Return:
    case Qt::Key_Enter: runCurrent(); return true;
    case Qt::Key_Escape: close(); return true;
    default: return false;
    }
}

void CommandPalette::runCurrent()
{
    const PaletteEntry* found = m_model->entry(m_list->currentIndex().row());
    if (!found || !found->isEnabled) return;
    const std::function<void()> run = found->run; // closing may reload the entries
    close();
    run();
}

namespace {

/// The row at which the second column begins: a group's first, so that both are about as long.
size_t secondColumn(const std::vector<ShortcutSheet::Row>& rows)
{
    size_t best = rows.size();
    for (size_t i = 1; i < rows.size(); ++i)
        if (rows[i].group != rows[i - 1].group &&
            std::max(i, rows.size() - i) < std::max(best, rows.size() - best))
            best = i;
    return best;
}

} // namespace

ShortcutSheet::ShortcutSheet(const ThemeSource& themes, QWidget* window,
                             const std::vector<Row>& rows)
    : Overlay(themes, window, {760, 590})
{
    panel().setTitle(tr("Keys"));
    panel().setCaption(tr("Esc closes"));
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(14);
    grid->setVerticalSpacing(2); // all rows fit into the smallest window
    QString group;
    int line = 0, column = 0;
    const Row* second = rows.data() + secondColumn(rows);
    for (const Row& row : rows) {
        if (&row == second) {
            line = 0;
            column = 3;
        }
        if (row.group != group) {
            group = row.group;
            grid->addWidget(new ThemedLabel(themes, ThemedLabel::Role::Strong, group), line++,
                            column, 1, 2);
        }
        grid->addWidget(new ThemedLabel(themes, ThemedLabel::Role::Code, row.keys), line, column);
        grid->addWidget(new ThemedLabel(themes, ThemedLabel::Role::Secondary, row.text), line++,
                        column + 1);
    }
    grid->setColumnMinimumWidth(2, 20);
    grid->setColumnStretch(1, 1);
    grid->setColumnStretch(4, 1);
    panel().content()->addLayout(grid);
    panel().content()->addStretch(1);
}

LogSheet::LogSheet(const ThemeSource& themes, QWidget* window)
    : Overlay(themes, window, {820, 460})
    , m_text(new QPlainTextEdit)
{
    panel().setTitle(tr("Log"));
    panel().setCaption(tr("Esc closes"));
    m_text->setReadOnly(true);
    m_text->setAccessibleName(tr("Log"));
    m_text->setFont(themes.theme().code);
    m_text->setFrameShape(QFrame::NoFrame);
    panel().content()->addWidget(m_text, 1);
}

void LogSheet::setLog(const QStringList& lines)
{
    m_text->setPlainText(lines.join(QLatin1Char('\n')));
    m_text->verticalScrollBar()->setValue(m_text->verticalScrollBar()->maximum());
}

} // namespace tenon::views
