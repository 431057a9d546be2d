// SPDX-License-Identifier: GPL-3.0-or-later
// Settings: what the window remembers between runs, as a plain value.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>

namespace tenon::app {

enum class ThemeChoice
{
    Automatic, ///< as the desktop's palette
    Light,
    Dark
};

struct Settings
{
    ThemeChoice theme = ThemeChoice::Automatic;
    QStringList recents; ///< newest first
    QString target = QStringLiteral("llvm -mcpu=native");
    QByteArray geometry;
    bool isMotionReduced = false;

    static constexpr int kRecents = 12;
    void addRecent(const QString& path);
};

/// From the user's configuration folder; `isolated` (tests, screenshots) gives the defaults and
/// saves nothing.
Settings loadSettings(bool isolated);
void saveSettings(const Settings& settings, bool isolated);

} // namespace tenon::app
