// SPDX-License-Identifier: Apache-2.0
// Graph-IR text as a model, wherever the text lies.
#pragma once

#include "compiler/frontend/loaded.h"
#include "core/ir/graph_text.h"

namespace tenon::compiler {

/// `pool` has the constants that the text names by their hash. Error BadText, with the line.
Result<Loaded> loadedFromText(std::string_view text, const ConstantPool& pool = {});

} // namespace tenon::compiler
