// SPDX-License-Identifier: Apache-2.0
// Proof that a function which somebody wrote stays inside its buffers.
#pragma once

#include "core/base/result.h"
#include "core/ir/tir/stmt.h"

namespace tenon::tir {

/// Proves each access to lie inside its buffer, from the extents of loops and block axes and from
/// the conditions around it (If, T.where, T.if_then_else; T.Select evaluates both sides and guards
/// nothing), that axes are bound inside their extents, and that no input is written. Error BadText
/// names the access, the index and what is known of it: what cannot be proven is refused.
/// Extents are constant, else DynamicShape.
Status checkAccesses(const PrimFunc& function);

} // namespace tenon::tir
