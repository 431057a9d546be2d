// SPDX-License-Identifier: GPL-3.0-or-later
// From nodes to the kernel calls that compute them.
#pragma once

#include "views/models/document.h"

namespace tenon::views {

/// Kernel-call index that serves this node: by identity, else by the source nodes; -1 when none.
int callForNode(const Document& document, const core::NodeRecord& node);
/// The same for a node of any version; -1 where none has it, or no call serves it.
int callServing(const Document& document, core::NodeId node);

} // namespace tenon::views
