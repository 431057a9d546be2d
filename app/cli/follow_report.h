// SPDX-License-Identifier: Apache-2.0
// What became of one node of the model in the passes, as text and JSON.
#pragma once

#include "app/cli/command.h"

namespace tenon::cli {

/// Prints where the source node of that name went; the exit code.
int printFollow(const compiler::PassTrace& trace, const std::string& name, bool isJson);

} // namespace tenon::cli
