// SPDX-License-Identifier: GPL-3.0-or-later
// WindowOptions: how a window is opened, as its program or a test wants it.
#pragma once

#include "views/frame/file_question.h"

#include <QString>

namespace tenon::app {

struct WindowOptions
{
    bool isIsolated = false; ///< nothing is saved
    bool isDark = false;
    QString samplePath;
    unsigned threads = 2;
    QString settingsPath; ///< empty: the user's own
    views::AskForFile askForFile = views::askWithDialog;
};

} // namespace tenon::app
