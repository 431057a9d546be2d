// SPDX-License-Identifier: Apache-2.0
// loadModel: opens a model file of any format we read, by content and not by extension.
#pragma once

#include "compiler/frontend/loaded.h"
#include "core/base/result.h"

namespace tenon::compiler {

/// Errors only when nothing can be shown (no such file, not a model, cut off); everything else is
/// in Loaded::diagnostics.
Result<Loaded> loadModel(const std::string& path, const ImportOptions& options);

} // namespace tenon::compiler
