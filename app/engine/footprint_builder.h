// SPDX-License-Identifier: GPL-3.0-or-later
// What the executors take: counted on the libraries that a compile links to, or measured.
#pragma once

#include "compiler/driver/compile.h"
#include "remote/footprint/footprint.h"
#include "views/models/footprint.h"

namespace tenon::app {

/// Graph and AOT executor; parts that only a run shows are unknown.
core::Result<views::Footprint> estimateFootprint(const compiler::CompileResultPtr& result,
                                                 core::JobContext& job);
/// What remote measured on linked images.
views::Footprint measuredFootprint(const std::vector<remote::ExecutorFootprint>& measured,
                                   const std::string& target);

} // namespace tenon::app
