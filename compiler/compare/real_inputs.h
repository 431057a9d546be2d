// SPDX-License-Identifier: Apache-2.0
// Data of a model that takes integers, for a reference that takes the real values they stand for.
#pragma once

#include "compiler/compare/compare.h"

namespace tenon::compiler {

/// The source on inputs of its own model `other`: where that takes floats and `own` integers, the
/// real values by the scale and zero point that `own` has for them. Error ShapeMismatch where the
/// types differ otherwise.
ReferenceSource onInputsOf(std::shared_ptr<const Loaded> own, std::shared_ptr<const Loaded> other,
                           ReferenceSource source);

} // namespace tenon::compiler
