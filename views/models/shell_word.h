// SPDX-License-Identifier: GPL-3.0-or-later
// A word of a command line that can be pasted into a shell.
#pragma once

#include <QString>

namespace tenon::views {

/// Quoted where it must be.
QString shellWord(const QString& text);

} // namespace tenon::views
