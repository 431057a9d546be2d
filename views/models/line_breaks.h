// SPDX-License-Identifier: GPL-3.0-or-later
// Where long words, like names of kernels and lists of nodes, may go on in the next line.
#pragma once

#include <QString>

namespace tenon::views {

/// The text with places of no width inside its long words, at which wrapped labels break lines: a
/// word wider than its label would be cut otherwise. A number stays with its unit.
QString withBreaks(const QString& text);
/// As it was: what is copied holds no such places.
QString withoutBreaks(QString text);

} // namespace tenon::views
