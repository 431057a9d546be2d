// SPDX-License-Identifier: Apache-2.0
// What a target says to the C compiler that its sources are given to.
#pragma once

#include "core/target/target.h"

#include <string>
#include <vector>

namespace tenon::core {

/// -mcpu, -march, -mfloat-abi and -mfpu as GCC and Clang take them, as far as a `c` target has
/// them.
std::vector<std::string> cCompilerOptions(const Target& target);

} // namespace tenon::core
