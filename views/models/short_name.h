// SPDX-License-Identifier: GPL-3.0-or-later
// Names too long for their column, shortened so that rows still read differently.
#pragma once

#include <QString>
#include <QStringList>

#include <functional>

namespace tenon::views {

/// What of a text is shown in the room there is, with "…" for the rest.
using Elide = std::function<QString(const QString& text, Qt::TextElideMode mode)>;

/// Names keep both ends and sentences their beginning, unless one of `others` (the rows around)
/// would then read the same: such a text starts with the part in which it departs from them, or
/// shows the first and the last such part; a sentence keeps its first word before that. What a
/// kernel does gives way to where it stands: "conv 1x1… · features.4/conv.0-2".
QString shortName(const QString& text, const QStringList& others, const Elide& elide);

} // namespace tenon::views
