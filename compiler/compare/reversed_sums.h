// SPDX-License-Identifier: Apache-2.0
// The model with its long sums the other way round: the same numbers on paper, other roundings.
#pragma once

#include "core/ir/module.h"

namespace tenon::compiler {

using namespace core;

/// Every convolution of more than one channel a group, dense layer and matrix product of `imported`
/// reads what it sums over from the end to the start; values keep their ids. Recurrent layers, and
/// sizes that only the run knows, stay as they are.
Module reversedSums(const Module& imported);

} // namespace tenon::compiler
