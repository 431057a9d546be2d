// SPDX-License-Identifier: Apache-2.0
// parsedFunction: the loop function that a test writes down as text.
#pragma once

#include "core/base/check.h"
#include "core/ir/tir/text.h"

#include <string_view>

namespace tenon::test {

/// CHECKs that the text is one.
inline tir::PrimFunc parsedFunction(std::string_view text)
{
    auto function = tir::parsePrimFunc(text);
    CHECK(function) << function.error().text();
    return *function;
}

} // namespace tenon::test
