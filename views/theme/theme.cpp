// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the theme tokens and derives palette and style sheet from them.
#include "views/theme/theme.h"

#include "core/base/check.h"

#include <QFile>
#include <QFontDatabase>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <cmath>

static void initThemeResources() { Q_INIT_RESOURCE(themes); }

namespace tenon::views {

namespace {

QFont sans(int pixels, QFont::Weight weight)
{
    QFont font;
    font.setFamilies(
        {QStringLiteral("Noto Sans"), QStringLiteral("Inter"), QStringLiteral("DejaVu Sans")});
    font.setPixelSize(pixels);
    font.setWeight(weight);
    return font;
}

double channel(double value)
{
    return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& c)
{
    return 0.2126 * channel(c.redF()) + 0.7152 * channel(c.greenF()) + 0.0722 * channel(c.blueF());
}

/// The accents are made for lines and surfaces; as text on a light tint they need more weight.
QColor inkOf(const QColor& colour, const Theme& theme)
{
    if (theme.isDark) return colour;
    constexpr float kText = 0.15f;
    return QColor::fromRgbF(colour.redF() * (1 - kText) + theme.text.redF() * kText,
                            colour.greenF() * (1 - kText) + theme.text.greenF() * kText,
                            colour.blueF() * (1 - kText) + theme.text.blueF() * kText);
}

constexpr const char* kStyle = R"(
QToolTip { background: %panel; color: %text; border: 1px solid %line; padding: 4px 6px; }
QLineEdit { background: %field; color: %text; border: 1px solid %line; border-radius: 5px; padding: 4px 8px; selection-background-color: %accent; selection-color: %accentText; }
QLineEdit:focus { border-color: %accent; }
QPlainTextEdit, QTextEdit { background: %field; color: %text; border: 1px solid %line; border-radius: 5px; selection-background-color: %accentSoft; selection-color: %text; }
QPlainTextEdit:focus, QTextEdit:focus { border-color: %accentSoft; }
QAbstractItemView { background: transparent; color: %text; border: none; outline: none; selection-background-color: %accentTint; selection-color: %accentInk; }
QListView#suggestions { background: %panel; border: 1px solid %line; padding: 3px; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QTreeView::item, QListView::item, QTableView::item { border: none; }
QListView::indicator { width: 11px; height: 11px; border: 1px solid %faint; border-radius: 3px; background: %panel; }
QListView::indicator:checked { background: %accent; border-color: %accent; }
QListView::indicator:disabled { background: %line; border-color: %line; }
QHeaderView { background: transparent; }
QHeaderView::section { background: transparent; color: %secondary; border: none; border-bottom: 1px solid %line; padding: 4px 6px; font-weight: 600; }
QHeaderView::up-arrow, QHeaderView::down-arrow { subcontrol-origin: border; subcontrol-position: top center; width: 9px; height: 5px; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar::handle:vertical { background: %line; border-radius: 3px; min-height: 28px; margin: 2px; }
QScrollBar::handle:vertical:hover { background: %faint; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle:horizontal { background: %line; border-radius: 3px; min-width: 28px; margin: 2px; }
QScrollBar::handle:horizontal:hover { background: %faint; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page { background: transparent; border: none; width: 0; height: 0; }
QSlider::groove:horizontal { background: %line; height: 3px; border-radius: 1px; }
QSlider::sub-page:horizontal { background: %accentSoft; border-radius: 1px; }
QSlider::handle:horizontal { background: %panel; border: 1px solid %secondary; width: 9px; height: 9px; margin: -4px 0; border-radius: 5px; }
QSlider::handle:horizontal:hover, QSlider::handle:horizontal:focus { border-color: %accent; background: %accentTint; }
QSplitter::handle { background: transparent; }
QMenu { background: %panel; color: %text; border: 1px solid %line; padding: 5px; }
QMenu::item { padding: 5px 22px 5px 14px; border-radius: 4px; }
QMenu::item:selected { background: %accentTint; color: %accentInk; }
QMenu::item:disabled { color: %faint; }
QMenu::separator { height: 1px; background: %line; margin: 4px 8px; }
)";

} // namespace

Theme loadTheme(bool isDark)
{
    initThemeResources();
    QFile file(isDark ? QStringLiteral(":/themes/dark.json")
                      : QStringLiteral(":/themes/light.json"));
    CHECK(file.open(QIODevice::ReadOnly)) << "theme resource is missing";
    const QJsonObject tokens = QJsonDocument::fromJson(file.readAll()).object();
    const auto colour = [&](const char* name) {
        const QColor value(tokens[QLatin1String(name)].toString());
        CHECK(value.isValid()) << "theme has no colour `" << name << "`";
        return value;
    };
    Theme t;
    t.isDark = isDark;
    t.window = colour("window"), t.panel = colour("panel"), t.line = colour("line");
    t.field = colour("field"), t.text = colour("text"), t.secondary = colour("secondary");
    t.faint = colour("faint"), t.accent = colour("accent"), t.accentTint = colour("accentTint");
    t.accentText = colour("accentText"), t.accentSoft = colour("accentSoft");
    t.accentInk = inkOf(t.accent, t);
    t.added = colour("added"), t.addedTint = colour("addedTint");
    t.removed = colour("removed"), t.removedTint = colour("removedTint");
    t.changed = colour("changed"), t.changedTint = colour("changedTint");
    t.canvas = colour("canvas"), t.edge = colour("edge"), t.card = colour("card");
    t.codeKeyword = colour("codeKeyword"), t.codeType = colour("codeType");
    t.codeNumber = colour("codeNumber"), t.codeComment = colour("codeComment");
    t.codeName = colour("codeName"), t.codeString = colour("codeString");
    const QJsonArray families = tokens[QLatin1String("families")].toArray();
    for (int i = 0; i < kOpFamilyCount; ++i)
        t.families[static_cast<size_t>(i)] = QColor(families.at(i).toString());
    t.body = sans(12, QFont::Normal);
    t.bodyStrong = sans(12, QFont::DemiBold);
    t.secondaryFont = sans(11, QFont::Normal);
    t.documentTitle = sans(14, QFont::DemiBold);
    t.code = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    t.code.setFamilies({QStringLiteral("JetBrains Mono"), QStringLiteral("Noto Sans Mono"),
                        QStringLiteral("DejaVu Sans Mono")});
    t.code.setPixelSize(11);
    return t;
}

/// Viridis, by its colours at every eighth.
QColor Theme::rampColour(double share)
{
    constexpr QRgb kStops[] = {0xff440154, 0xff472d7b, 0xff3b528b, 0xff2c728e, 0xff21918c,
                               0xff28ae80, 0xff5ec962, 0xffaddc30, 0xfffde725};
    constexpr int kLast = 7; // where the last stretch begins
    const double at = std::clamp(share, 0.0, 1.0) * (kLast + 1);
    const int stop = std::min(kLast, static_cast<int>(at));
    const QColor a(kStops[stop]), b(kStops[stop + 1]);
    const double t = at - stop;
    const auto mix = [t](int from, int to) { return qRound(from + (to - from) * t); };
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

QColor Theme::inkOn(const QColor& ground)
{
    const QColor black(Qt::black), white(Qt::white);
    return contrastRatio(black, ground) > contrastRatio(white, ground) ? black : white;
}

QColor Theme::stateColour(DiffState state) const
{
    switch (state) {
    case DiffState::Added: return added;
    case DiffState::Removed: return removed;
    case DiffState::Changed: return changed;
    case DiffState::Plain:
    case DiffState::Unchanged: break;
    }
    return line;
}

QColor Theme::stateInk(DiffState state) const
{
    const bool isTold = state != DiffState::Plain && state != DiffState::Unchanged;
    return isTold ? inkOf(stateColour(state), *this) : text;
}

QColor Theme::stateTint(DiffState state) const
{
    switch (state) {
    case DiffState::Added: return addedTint;
    case DiffState::Removed: return removedTint;
    case DiffState::Changed: return changedTint;
    case DiffState::Plain:
    case DiffState::Unchanged: break;
    }
    return card;
}

QString Theme::stateGlyph(DiffState state)
{
    switch (state) {
    case DiffState::Added: return QStringLiteral("+");
    case DiffState::Removed: return QStringLiteral("−");
    case DiffState::Changed: return QStringLiteral("~");
    case DiffState::Plain:
    case DiffState::Unchanged: break;
    }
    return {};
}

QPalette Theme::palette() const
{
    QPalette p;
    p.setColor(QPalette::Window, window);
    p.setColor(QPalette::WindowText, text);
    p.setColor(QPalette::Base, panel);
    p.setColor(QPalette::AlternateBase, field);
    p.setColor(QPalette::Text, text);
    p.setColor(QPalette::Button, panel);
    p.setColor(QPalette::ButtonText, text);
    p.setColor(QPalette::BrightText, removed);
    p.setColor(QPalette::Highlight, accent);
    p.setColor(QPalette::HighlightedText, accentText);
    p.setColor(QPalette::PlaceholderText, faint);
    p.setColor(QPalette::ToolTipBase, panel);
    p.setColor(QPalette::ToolTipText, text);
    p.setColor(QPalette::Link, accentInk);
    p.setColor(QPalette::Mid, line);
    p.setColor(QPalette::Disabled, QPalette::Text, faint);
    p.setColor(QPalette::Disabled, QPalette::ButtonText, faint);
    p.setColor(QPalette::Disabled, QPalette::WindowText, faint);
    return p;
}

QString Theme::styleSheet() const
{
    QString sheet = QString::fromUtf8(kStyle);
    // Longer names first: "accentText" contains "accent".
    const std::pair<const char*, QColor> tokens[] = {{"%accentText", accentText},
                                                     {"%accentInk", accentInk},
                                                     {"%accentTint", accentTint},
                                                     {"%accentSoft", accentSoft},
                                                     {"%accent", accent},
                                                     {"%secondary", secondary},
                                                     {"%panel", panel},
                                                     {"%field", field},
                                                     {"%faint", faint},
                                                     {"%line", line},
                                                     {"%text", text}};
    for (const auto& [token, colour] : tokens) sheet.replace(QLatin1String(token), colour.name());
    return sheet;
}

double contrastRatio(const QColor& a, const QColor& b)
{
    const double la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

} // namespace tenon::views
