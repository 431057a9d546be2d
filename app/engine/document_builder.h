// SPDX-License-Identifier: GPL-3.0-or-later
// From the compiler's results to the window's document.
#pragma once

#include "compiler/driver/compile.h"
#include "remote/session/local_board.h"
#include "views/models/document.h"

namespace tenon::app {

/// A document of what could be read; no passes.
std::shared_ptr<views::Document> documentOf(const compiler::Loaded& loaded, const QString& path);
/// Adds passes, kernels, calls and memory plan as far as the result has them.
void addResult(const compiler::CompileResultPtr& result, views::Document& document);
/// `place` is the board as people call it.
views::Measurement measurementOf(const remote::Timing& timing, const views::Document& document,
                                 const QString& place, bool isEmulated);

} // namespace tenon::app
