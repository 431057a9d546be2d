// SPDX-License-Identifier: GPL-3.0-or-later
// Theme: the only place where meanings become colours and fonts.
#pragma once

#include "views/scene/scene.h"

#include <QColor>
#include <QFont>
#include <QPalette>

#include <array>

namespace tenon::views {

struct Theme
{
    bool isDark = false;
    QColor window, panel, line, field;
    QColor text, secondary, faint;
    QColor accent, accentTint, accentText, accentSoft;
    QColor accentInk; ///< the accent as text, readable on its tint
    QColor added, addedTint, removed, removedTint, changed, changedTint;
    QColor canvas, edge, card;
    std::array<QColor, kOpFamilyCount> families;
    QColor codeKeyword, codeType, codeNumber, codeComment, codeName, codeString;

    QFont body, bodyStrong, secondaryFont, documentTitle, code;

    QColor familyColour(OpFamily family) const { return families[static_cast<size_t>(family)]; }
    /// Of a share from 0 to 1; the same for all who see colours differently, and in both themes.
    static QColor rampColour(double share);
    /// Black or white, whichever is easier to read there.
    static QColor inkOn(const QColor& ground);
    QColor stateColour(DiffState state) const;
    QColor stateTint(DiffState state) const;
    QColor stateInk(DiffState state) const; ///< as text, readable on the tint
    /// `-` `+` `~`, so that a diff never depends on colour alone.
    static QString stateGlyph(DiffState state);
    QPalette palette() const;
    /// Style sheet of the widgets that follow the palette only in part.
    QString styleSheet() const;
};

constexpr int kPanelRadius = 8;
constexpr int kGutter = 12;
constexpr int kPanelMargin = 14;

/// The bundled "light" or "dark" theme.
Theme loadTheme(bool isDark);
/// Ratio of luminances as WCAG defines it, 1 to 21.
double contrastRatio(const QColor& a, const QColor& b);

} // namespace tenon::views
