// SPDX-License-Identifier: GPL-3.0-or-later
// The compiled model as a file that others load, as `tenon compile -o` writes it, or the model
// itself as ONNX, as `tenon convert -o` does.
#pragma once

#include "app/engine/engine.h"

namespace tenon::app {

/// Compiles for the options first unless that was done or `path` is ONNX; its suffix is the format.
core::Result<views::DocumentPtr> saveModel(const EngineOptions& engine,
                                           const views::DocumentPtr& document,
                                           const views::BuildOptions& build, const QString& path,
                                           core::JobContext& job);
/// "Shared library (*.so)", ...: what there is for a target, the usual first.
QStringList saveFormats(const QString& target);

} // namespace tenon::app
