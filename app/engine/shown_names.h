// SPDX-License-Identifier: GPL-3.0-or-later
// Names out of a model file as the window takes them: those that mean ill are cut and escaped once,
// where documents are built, so that nothing behind has to lay out a megabyte.
#pragma once

#include "core/ir/module.h"

#include <string>
#include <vector>

namespace tenon::app {

/// Control codes and marks that turn the reading direction as escapes; of more than a KiB the
/// beginning and the end, with the length between them; no more marks on a letter than scripts put
/// there.
std::string shownName(const std::string& name);

/// Names of nodes, sources, functions and results in all versions of a model, the imported one
/// first. What two versions share they share afterwards; nothing is touched where no name needs it.
void showNames(const std::vector<core::Module*>& versions);

} // namespace tenon::app
