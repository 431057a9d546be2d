// SPDX-License-Identifier: Apache-2.0
// Dimensions that an operator's typing takes to fit one another though nobody knows them yet.
#pragma once

#include "core/ir/module.h"

#include <vector>

namespace tenon::compiler {

using namespace core;

struct SizeCheck
{
    enum Relation : uint8_t
    {
        Equal,
        OneOrEqual, ///< `a` broadcasts to `b`
        AtMost,
        AtMostOf ///< what `a` indices choose from has elements: `b` is `a` times its extent
    };
    Dim a;
    Dim b;
    Relation relation = Equal;
    int axis = -1; ///< of the result; -1: of no one axis
};

/// What must hold when the node runs; empty where all dimensions are known.
std::vector<SizeCheck> sizeChecks(const Module& module, const NodeRecord& node);

} // namespace tenon::compiler
