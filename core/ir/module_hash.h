// SPDX-License-Identifier: Apache-2.0
// moduleHash: tells models apart by their graphs.
#pragma once

#include "core/ir/module.h"

#include <string>

namespace tenon::core {

/// Of nodes, attributes, types and small constants; large constants count by type only, so two
/// trainings of one network are the same model. The same over runs and platforms.
std::string moduleHash(const Module& module);

} // namespace tenon::core
