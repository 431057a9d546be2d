// SPDX-License-Identifier: GPL-3.0-or-later
// What a new user sees first, and what a returning one clicks at once.
#include "views/pages/start/start_page.h"

#include "views/models/format.h"

#include <QFileInfo>
#include <QPainter>

namespace tenon::views {

namespace {

constexpr int kColumnWidth = 560;
constexpr int kShownRecents = 8;

/// One recent file: name, folder, number key.
class RecentRow : public QPushButton
{
public:
    RecentRow(const ThemeSource& themes, const QString& path, int number)
        : m_themes(themes)
        , m_path(path)
        , m_number(number)
    {
        setCursor(Qt::PointingHandCursor);
        setFixedHeight(40);
        setAccessibleName(modelName(path));
        setToolTip(path);
        QObject::connect(&themes, &ThemeSource::changed, this, [this] { update(); });
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        const Theme& t = m_themes.theme();
        const QFileInfo file(m_path);
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        if (underMouse() || hasFocus()) {
            painter.setPen(hasFocus() ? QPen(t.accentSoft) : QPen(Qt::NoPen));
            painter.setBrush(t.accentTint);
            painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
        }
        themedIcon(QStringLiteral("file"), t.secondary).paint(&painter, QRect(10, 11, 18, 18));
        painter.setFont(t.bodyStrong);
        painter.setPen(file.exists() ? t.text : t.faint);
        painter.drawText(
            QRect(38, 3, width() - 110, 18), Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(modelName(m_path), Qt::ElideMiddle, width() - 110));
        painter.setFont(t.secondaryFont);
        painter.setPen(t.secondary);
        painter.drawText(
            QRect(38, 20, width() - 110, 16), Qt::AlignLeft | Qt::AlignVCenter,
            QFontMetrics(t.secondaryFont).elidedText(file.path(), Qt::ElideMiddle, width() - 110));
        painter.setPen(t.faint);
        if (m_number <= 9)
            painter.drawText(rect().adjusted(0, 0, -12, 0), Qt::AlignRight | Qt::AlignVCenter,
                             QStringLiteral("Ctrl+%1").arg(m_number));
    }

private:
    const ThemeSource& m_themes;
    QString m_path;
    int m_number;
};

/// What one can do here, in three words and a sentence.
class Promise : public Panel
{
public:
    Promise(const ThemeSource& themes, const QString& icon, const QString& title,
            const QString& text)
        : Panel(themes)
        , m_icon(icon)
    {
        auto* heading = new ThemedLabel(themes, ThemedLabel::Role::Strong, title);
        auto* words = new ThemedLabel(themes, ThemedLabel::Role::Secondary, text);
        words->setWordWrap(true);
        words->setAlignment(Qt::AlignLeft | Qt::AlignTop);
        content()->setContentsMargins(kPanelMargin, 22, kPanelMargin, kPanelMargin);
        content()->setSpacing(4);
        content()->addWidget(heading);
        content()->addWidget(words, 1);
        constexpr int kRoom = (kColumnWidth - 2 * kGutter) / 3 - 2 * kPanelMargin;
        words->setMinimumHeight(words->heightForWidth(kRoom) + 4);
        setMinimumHeight(142);
    }

protected:
    void paintEvent(QPaintEvent* event) override
    {
        Panel::paintEvent(event);
        QPainter painter(this);
        themedIcon(m_icon, themes().theme().accent).paint(&painter, QRect(14, 14, 20, 20));
    }

private:
    QString m_icon;
};

} // namespace

StartPage::StartPage(const ThemeSource& themes, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
    , m_recents(new Panel(themes, tr("Recent models")))
    , m_recentRows(new QVBoxLayout)
    , m_sampleButton(new PillButton(themes, PillButton::Look::Plain, tr("Open the sample model")))
{
    auto* title = new ThemedLabel(themes, ThemedLabel::Role::Heading, tr("Open a model"));
    auto* text =
        new ThemedLabel(themes, ThemedLabel::Role::Secondary,
                        tr("Drop an ONNX or TensorFlow Lite file anywhere on this window, or start "
                           "here. Models stay on this computer; nothing is sent anywhere."));
    text->setWordWrap(true);
    text->setFixedSize(kColumnWidth, text->heightForWidth(kColumnWidth) + 4);
    auto* open = new PillButton(themes, PillButton::Look::Primary, tr("Open model…"));
    open->setShortcutText(QStringLiteral("Ctrl+O"));
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(10);
    buttons->addWidget(open);
    buttons->addWidget(m_sampleButton);
    buttons->addStretch(1);
    m_recentRows->setSpacing(2);
    m_recents->content()->setContentsMargins(8, 0, 8, 8);
    m_recents->content()->addLayout(m_recentRows);
    auto* hints =
        new ThemedLabel(themes, ThemedLabel::Role::Faint,
                        tr("Ctrl+K finds every command, node and pass   ·   ? lists all keys"));
    auto* promises = new QHBoxLayout;
    promises->setSpacing(kGutter);
    promises->addWidget(new Promise(themes, QStringLiteral("passes"), tr("Step through it"),
                                    tr("The graph after every pass, and which node became which.")),
                        1);
    promises->addWidget(new Promise(themes, QStringLiteral("compile"), tr("Compile it"),
                                    tr("For any target; code generator and linker are inside.")),
                        1);
    promises->addWidget(new Promise(themes, QStringLiteral("timing"), tr("Measure it"),
                                    tr("Every kernel's time, on the very nodes it came from.")),
                        1);
    auto* column = new QWidget;
    column->setFixedWidth(kColumnWidth);
    auto* layout = new QVBoxLayout(column);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(14);
    layout->addWidget(title);
    layout->addWidget(text);
    layout->addLayout(buttons);
    layout->addSpacing(10);
    layout->addLayout(promises);
    layout->addWidget(m_recents);
    layout->addWidget(hints);
    auto* page = new QVBoxLayout(this);
    page->addStretch(2);
    page->addWidget(column, 0, Qt::AlignHCenter);
    page->addStretch(3);
    connect(open, &QPushButton::clicked, this, &StartPage::openRequested);
    connect(m_sampleButton, &QPushButton::clicked, this, [this] { emit pathChosen(m_sample); });
    setRecents({});
    setSample({});
}

void StartPage::setRecents(const QStringList& paths)
{
    while (QLayoutItem* item = m_recentRows->takeAt(0)) {
        item->widget()->deleteLater(); // one of them may be the button that was clicked
        delete item;
    }
    int number = 0;
    for (const QString& path : paths.mid(0, kShownRecents)) {
        auto* row = new RecentRow(m_themes, path, ++number);
        connect(row, &QPushButton::clicked, this, [this, path] { emit pathChosen(path); });
        m_recentRows->addWidget(row);
    }
    m_recents->setVisible(!paths.isEmpty());
}

void StartPage::setSample(const QString& path)
{
    m_sample = path;
    m_sampleButton->setVisible(!path.isEmpty());
}

void StartPage::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_themes.theme().window);
}

} // namespace tenon::views
