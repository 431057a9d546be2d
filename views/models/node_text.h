// SPDX-License-Identifier: GPL-3.0-or-later
// What a node is called, what matters about it, and to which family of operators it belongs.
#pragma once

#include "core/ir/module.h"

#include <QString>

#include <map>
#include <string>

namespace tenon::views {

enum class OpFamily : uint8_t
{
    Convolution,
    Dense,
    Elementwise,
    Normalization,
    Pooling,
    Movement,
    Boundary
};
constexpr int kOpFamilyCount = 7;

OpFamily familyOf(const core::Module& module, const core::NodeRecord& node);
/// Of an operator by the table, else by words in the name, as that of a kernel.
OpFamily familyOfOp(const std::string& op);
using OpFamilies = std::map<std::string, OpFamily>;
/// What the compiler knows of its operators; for the whole program, before anything is shown.
void setOpFamilies(OpFamilies families);
QString familyText(OpFamily family);

/// "nn.conv2d", the name of a fused function, or an input's name.
QString titleOf(const core::Module& module, const core::NodeRecord& node);
/// One line with what matters: "32 → 96 ch, 1×1" for a convolution, "0 … 6" for clip.
QString detailOf(const core::Module& module, const core::NodeRecord& node);
/// The first difference of two records of one place, inline: operator, attribute or type ("NCHW →
/// NCHW16c"); `otherwise` when none of them differs.
QString changeText(const core::Module& before, const core::NodeRecord& was,
                   const core::NodeRecord& is, const QString& otherwise);
/// For screen readers: "nn.conv2d 3×3, 64 channels, input from relu_4".
QString spokenText(const core::Module& module, const core::NodeRecord& node);
/// Readable name of an operand for lists: the node's name or its title.
QString valueText(const core::Module& module, core::ValueRef value);

} // namespace tenon::views
