// SPDX-License-Identifier: Apache-2.0
// What several passes made together, as text and JSON.
#pragma once

#include "app/cli/command.h"
#include "compiler/passes/pass.h"

namespace tenon::cli {

/// Between the versions after the passes `from` and `to`, by name, the last run of each; empty: as
/// imported, and the last.
int printComposed(const compiler::PassTrace& trace, const std::string& from, const std::string& to,
                  bool isJson);

} // namespace tenon::cli
