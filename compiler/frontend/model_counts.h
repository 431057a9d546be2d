// SPDX-License-Identifier: Apache-2.0
// The counts of a model that was read: what `inspect`, the window and the report show.
#pragma once

#include "compiler/frontend/loaded.h"
#include "core/ir/model_counts.h"

namespace tenon::compiler {

core::ModelCounts countsOf(const Loaded& loaded);

} // namespace tenon::compiler
