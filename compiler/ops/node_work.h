// SPDX-License-Identifier: Apache-2.0
// What the nodes of a graph compute, counted in one place: the command line, the window and the
// report show these numbers.
#pragma once

#include "core/ir/module.h"

#include <cstdint>

namespace tenon::compiler {

/// Multiply-accumulates of a convolution or product as its shapes say, products with padding among
/// them (after passes have filled up channels, with those: see SourceMacs); 0 for other operators,
/// and where a size is known at run time only.
int64_t macsOf(const core::Module& module, const core::NodeRecord& node);

/// Floating-point operations that no kernel can leave out: what macsOf() counts, without products
/// with padding; of a Winograd convolution, the products of its tiles. The bound that a kernel's
/// time is held against counts these.
double leastFlops(const core::Module& module, const core::NodeRecord& node);

/// The share of the elements of operand `operand` that the result depends on: a window that steps
/// over elements does not read them.
double readShare(const core::Module& module, const core::NodeRecord& node, size_t operand);

} // namespace tenon::compiler
