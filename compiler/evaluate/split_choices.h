// SPDX-License-Identifier: Apache-2.0
// Nests that compute one of a few cases at each point, as one nest per case.
#pragma once

#include "core/ir/tir/stmt.h"

#include <vector>

namespace tenon::compiler {

/// The nest with each short spatial axis that conditions compare with constants (the row of a
/// Winograd transform) fixed to its values in turn: rows would else compute every case and keep
/// one. Together they store what `nest` stores. Anything else comes back as it is.
std::vector<tir::Stmt> splitChoices(const tir::Stmt& nest);

} // namespace tenon::compiler
