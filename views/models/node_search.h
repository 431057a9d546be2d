// SPDX-License-Identifier: GPL-3.0-or-later
// Finding a node by what a person types: its name, its operator, or a source node it came from.
#pragma once

#include "core/ir/module.h"

#include <QString>

namespace tenon::views {

/// True when name, title or a source name of the node contains `text`.
bool nodeMatches(const core::Module& module, const core::NodeRecord& node, const QString& text);

/// The first node that is called so, else the first that matches; main function before nested and
/// fused ones. Invalid when there is none.
core::NodeId findNode(const core::Module& module, const QString& text);

} // namespace tenon::views
