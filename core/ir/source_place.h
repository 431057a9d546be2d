// SPDX-License-Identifier: Apache-2.0
// Where nodes of the model file stand, as short as tells it.
#pragma once

#include "core/ir/module.h"

#include <string>
#include <vector>

namespace tenon::core {

/// By the scopes that the file names: "features.0-1", "layer1.0/conv1, relu"; of nodes without
/// any their names: "Conv_0 .. Add_4". Empty when `of` is.
std::string sourcePlace(const std::vector<SourceNode>& sources, const std::vector<SourceId>& of);

} // namespace tenon::core
