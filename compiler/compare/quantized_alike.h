// SPDX-License-Identifier: Apache-2.0
// Whether two models round alike, so that a difference between them is none of rounding.
#pragma once

#include "core/ir/module.h"

namespace tenon::compiler {

using namespace core;

/// Both compute by the same operators on the same types, and every scale and zero point is the
/// same; other constants may differ. False where nothing is quantized.
bool areQuantizedAlike(const Module& a, const Module& b);

} // namespace tenon::compiler
