// SPDX-License-Identifier: GPL-3.0-or-later
// What the target editor offers.
#pragma once

#include "views/models/target_figures.h"
#include "views/models/target_parts.h"

namespace tenon::app {

QStringList targetKinds(); ///< that code is generated for
views::TargetNames targetNames(const QString& triple);
QStringList unusedFeatures(const QString& target, const QString& boardTarget);
/// Figures of the processor's row; those that -machine gives stand in their place.
views::TargetFigures targetFigures(const QString& target);

} // namespace tenon::app
