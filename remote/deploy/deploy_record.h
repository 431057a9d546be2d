// SPDX-License-Identifier: Apache-2.0
// A deployment's measurement as an entry of the run history.
#pragma once

#include "remote/deploy/deployer.h"

namespace tenon::remote {

/// What the history calls a board: emulated ones say so.
std::string historyName(const Board& board);

/// Appends when the report has a measurement; makes the file and its folder when there are none. A
/// warning when that went otherwise than it should.
std::optional<core::Diagnostic> keepInHistory(const std::string& path, const DeployReport& report,
                                              int optLevel, const std::string& toolVersion);

} // namespace tenon::remote
