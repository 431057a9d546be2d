// SPDX-License-Identifier: Apache-2.0
// loadModel: opens a model file of any format we read, by content and not by extension.
#pragma once

#include "compiler/frontend/loaded.h"
#include "core/base/result.h"

namespace tenon::compiler {

/// Errors only when nothing can be shown (no such file, not a model, cut off); everything else is
/// in Loaded::diagnostics. Operators that are not built in are taken from the options' files and
/// from the one beside the model (operatorFileBeside()), whose errors are errors.
Result<Loaded> loadModel(const std::string& path, const ImportOptions& options);

} // namespace tenon::compiler
