// SPDX-License-Identifier: Apache-2.0
// A number and where it comes from as one integer, so that one comparison tells what comes first.
#pragma once

#include "compiler/te/te.h"

namespace tenon::compiler {

/// Which of two numbers has the higher key; of equal ones, it is the one of the lower index.
enum class HigherKey : uint8_t
{
    OfTheHigher,
    OfTheLower
};

/// Numbers of at most 32 bits, as integers or in single precision, leave as many to the index.
bool hasOrderedKey(core::DataType dtype);
/// The key of `value` at `index`, which is less than 2^32. Both zeros are equal; NaN is beyond
/// infinity of its sign.
tir::Expr orderedKey(const tir::Expr& value, const tir::Expr& index, HigherKey order);
tir::Expr indexOfKey(const tir::Expr& key);

} // namespace tenon::compiler
