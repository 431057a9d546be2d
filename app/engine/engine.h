// SPDX-License-Identifier: GPL-3.0-or-later
// The real engine of the window: frontends, compiler driver and boards.
#pragma once

#include "compiler/driver/kernel_service.h"
#include "views/models/node_text.h"
#include "views/presenters/engine.h"

#include <memory>

namespace tenon::app {

struct EngineOptions
{
    std::shared_ptr<compiler::KernelService> kernels; ///< code generation; null: in this process
    QString cacheFolder;                              ///< compiled kernels; empty: none
    QString configFolder; ///< boards, host keys and history; empty: the user's
    int repeats = 0;      ///< of a benchmark; 0: until the precision or the asked budget is reached
};

/// The colour family of each operator's cards, as its definition says.
views::OpFamilies opFamilies();
/// "ONNX models (*.onnx)", one per format whose files have a suffix.
QStringList modelFileFilters();
/// Tells the views the families, too.
views::Engine makeEngine(const EngineOptions& options);

} // namespace tenon::app
