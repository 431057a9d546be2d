// SPDX-License-Identifier: GPL-3.0-or-later
// What machine a target makes code for, in a word.
#pragma once

#include <QString>

namespace tenon::views {

/// "cortex-m4", "aarch64", "this computer", "c"; empty for what is no target.
QString machineText(const QString& target);

} // namespace tenon::views
