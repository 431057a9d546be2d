// SPDX-License-Identifier: GPL-3.0-or-later
// The nodes of functions nested in control flow (If, Loop, Scan), and whose they are.
#pragma once

#include "views/models/document.h"

#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace tenon::views {

/// Calls `found` with every node of the nested functions of `owner`, at any depth; operators that
/// were fused into calls are not among them.
void forEachNested(const core::Module& module, const core::NodeRecord& owner,
                   const std::function<void(core::NodeId)>& found);

/// The nodes of the main function and, where they are nested functions, of these.
std::unordered_set<core::NodeId> programNodes(const core::Module& module);

/// Which node of the main function each nested node stands in, members of fused calls included.
std::unordered_map<core::NodeId, core::NodeId> ownersInMain(const core::Module& module);

/// How many changes of a pass were made inside nodes of the main function; version 0 has none.
std::unordered_map<core::NodeId, int> nestedChanges(const Document& document, size_t version);

/// "3 changes inside".
QString nestedChangesText(int changes);

} // namespace tenon::views
