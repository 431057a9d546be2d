// SPDX-License-Identifier: Apache-2.0
// Which of two branches exporters write for an axis that is removed where it is 1.
#pragma once

#include "core/ir/module.h"

#include <optional>

namespace tenon::compiler {

/// The size of which `condition` says whether it is 1; nothing when it says something else.
std::optional<core::Dim> sizeComparedToOne(const core::Module& module, core::ValueRef condition);

/// True when a result of the body has lost an axis of that size: every run checks that it is 1.
bool removesAxis(const core::Module& module, core::FunctionId body, const core::Dim& size);

} // namespace tenon::compiler
