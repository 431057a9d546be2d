// SPDX-License-Identifier: GPL-3.0-or-later
// What a presenter says of a field, written into it.
#pragma once

#include <QLineEdit>
#include <QSignalBlocker>

namespace tenon::views {

/// Not while it is typed into, and without telling the presenter what it just said.
inline void showText(QLineEdit& field, const QString& text)
{
    if (field.hasFocus() || field.text() == text) return;
    const QSignalBlocker blocker(field);
    field.setText(text);
}

} // namespace tenon::views
