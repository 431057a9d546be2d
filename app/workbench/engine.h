// SPDX-License-Identifier: GPL-3.0-or-later
// The real engine of the window: frontends, compiler driver and this computer as a board.
#pragma once

#include "compiler/driver/kernel_service.h"
#include "views/presenters/engine.h"

#include <memory>

namespace tenon::app {

struct EngineOptions
{
    std::shared_ptr<compiler::KernelService> kernels; ///< code generation; null: in this process
    QString cacheFolder;                              ///< compiled kernels; empty: none
    int repeats = 40;                                 ///< of a benchmark
};

views::Engine makeEngine(const EngineOptions& options);

} // namespace tenon::app
