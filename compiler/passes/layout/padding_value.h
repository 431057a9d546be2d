// SPDX-License-Identifier: Apache-2.0
// What windows may read in place of elements beyond the edges of their image.
#pragma once

#include "core/ir/module.h"

#include <optional>

namespace tenon::compiler {

using namespace core;

/// The number that padding of a convolution or pool stands for; nothing where that is no number
/// that is known, as for means of the elements that are there.
std::optional<double> paddingValue(const Module& module, const NodeRecord& window);

} // namespace tenon::compiler
