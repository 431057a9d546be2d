// SPDX-License-Identifier: GPL-3.0-or-later
// The canvas for screen readers: every visible item is a child with role, name and relations.
#pragma once

#include <QAccessibleInterface>

namespace tenon::views {

/// Interface for GraphCanvas objects, null for others; installed once by the program with
/// QAccessible::installFactory.
QAccessibleInterface* canvasAccessibleFactory(const QString& className, QObject* object);

} // namespace tenon::views
