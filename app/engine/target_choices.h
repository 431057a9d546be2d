// SPDX-License-Identifier: GPL-3.0-or-later
// What the target editor offers.
#pragma once

#include "views/models/target_parts.h"

namespace tenon::app {

QStringList targetKinds(); ///< that code is generated for
views::TargetNames targetNames(const QString& triple);
QStringList unusedFeatures(const QString& target, const QString& boardTarget);

} // namespace tenon::app
