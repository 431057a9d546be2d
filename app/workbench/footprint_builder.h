// SPDX-License-Identifier: GPL-3.0-or-later
// What the executors take, estimated from a compile that has linked nothing yet.
#pragma once

#include "compiler/driver/compile.h"
#include "views/models/footprint.h"

namespace tenon::app {

/// Graph and AOT executor; parts that only a linked image shows are unknown.
core::Result<views::Footprint> estimateFootprint(const compiler::CompileResult& result);

} // namespace tenon::app
