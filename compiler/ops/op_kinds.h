// SPDX-License-Identifier: Apache-2.0
// The kinds by which an operator is fused, compared, shown and laid out.
#pragma once

#include <cstdint>

namespace tenon::compiler {

/// Fusion category, with TVM's numbers (tvm FuseOps).
enum class Pattern : uint8_t
{
    Elementwise = 0,
    Broadcast = 1,
    Injective = 2,
    Reduction = 3,
    OutEwiseFusable = 4,
    Opaque = 8
};

/// How far two correct evaluations may differ.
enum class Accuracy : uint8_t
{
    Exact,
    Rounding,
    Random
};

/// For the operator manual and the inspector: colour family and grouping.
enum class Family : uint8_t
{
    Convolution,
    Dense,
    Elementwise,
    Normalization,
    Pooling,
    Reduction,
    Layout,
    Movement,
    Control
};

/// What an operator needs to be done on channels in blocks, [N, C/c, H, W, c], as on [N, C, H, W].
enum class BlockedForm : uint8_t
{
    None,       ///< none, or one of its own; what is elementwise needs nothing
    ByLayout,   ///< its attribute `layout` says so
    ByAxes,     ///< nothing while it leaves the channels alone
    ByReduction ///< nothing while it reduces neither batch nor channels
};

} // namespace tenon::compiler
