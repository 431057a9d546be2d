// SPDX-License-Identifier: Apache-2.0
// What OpenImagesAsPatches asks of types and nodes.
#pragma once

#include "core/ir/module.h"

#include <vector>

namespace tenon::compiler {

using namespace core;

inline constexpr size_t kImageRank = 4;

/// Images of known channels, whose rows or columns are not known.
bool isOpenImage(const TensorType& type);

/// A convolution by filters of that shape whose results are of one pixel each, at the same place.
bool isPointwise(const NodeRecord& node, const std::vector<int64_t>& weight);

/// The same for every patch of every image.
bool isByChannel(const Module& module, ValueRef value);

} // namespace tenon::compiler
