// SPDX-License-Identifier: Apache-2.0
// withinWholes(): the parts of a concatenation of several images are written where they belong.
#pragma once

#include "core/ir/module.h"

namespace tenon::compiler {

using namespace core;

/// Of a call: its kernel reads or writes tensors that lie within larger ones.
inline constexpr const char* kWithinWholeAttr = "within_whole";
/// Of a concatenation, how many pieces each of its parts has in the result.
inline constexpr const char* kPiecesAttr = "pieces";

/// The lowered module with other kernels around concatenations along an axis behind others: what
/// makes a part, and what reads it, steps from one image to the next as the whole does. Such
/// concatenations carry kPiecesAttr, and every one of them has to be placed (placeJoins()), as the
/// kernels are right in no other place. Those stay copies of which a part is an input, a constant,
/// an output, a view, a part already, or ends where kernels expect no tensor to begin.
/// For executors that may place a tensor anywhere (AOT); shapes are constant.
Module withinWholes(const Module& lowered);

} // namespace tenon::compiler
