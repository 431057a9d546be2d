// SPDX-License-Identifier: Apache-2.0
// A measurement as JSON and as text; what bench and deploy print.
#pragma once

#include "app/cli/command.h"
#include "core/artifact/manifest.h"
#include "core/artifact/trace_events.h"
#include "remote/board/board.h"
#include "remote/session/local_board.h"

namespace tenon::cli {

/// `sha256` of the artifact that was measured.
Json benchJson(const remote::Board& board, const Manifest& manifest, const remote::Timing& timing,
               const std::string& sha256);
/// What --trace writes.
core::TracedRun tracedRun(const std::string& model, const remote::Board& board,
                          const Manifest& manifest, const remote::Timing& timing);
std::string benchText(const remote::Board& board, const Manifest& manifest,
                      const remote::Timing& timing);

} // namespace tenon::cli
