// SPDX-License-Identifier: Apache-2.0
// What is known of a processor, figure by figure with its source, for `tenon targets`.
#pragma once

#include "app/cli/command.h"
#include "core/target/machine_table.h"

namespace tenon::cli {

/// Every field, by its name.
Json factsJson(const TargetFacts& facts);
/// Rows, title and source of each figure; one without a source is marked.
Json machineJson(const Machine& machine);
std::string machineSheet(const Machine& machine);

/// `tenon targets --machine`: of a processor's name, or of the one that a target string names, with
/// what its -machine says. "all": every row's name.
int showMachine(const std::string& name, const CommonOptions& common);

} // namespace tenon::cli
