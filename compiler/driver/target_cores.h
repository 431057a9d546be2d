// SPDX-License-Identifier: Apache-2.0
// What a target should say of the cores of the board that it describes.
#pragma once

#include "core/target/target.h"

#include <string>

namespace tenon::compiler {

/// True where what is made for the target can have threads.
bool hasThreads(const core::Target& target);
/// True where -num-cores means something and is not given.
bool lacksCores(const core::Target& target);
/// The target's text with -num-cores of what is known of the board, where it says nothing itself;
/// what cannot be parsed comes back as it is.
std::string withCores(const std::string& target, unsigned cores);

} // namespace tenon::compiler
