// SPDX-License-Identifier: Apache-2.0
// Programs around the kernels of another one: with chosen values as outputs, or with every call on
// inputs of its own.
#pragma once

#include "core/ir/module.h"

#include <span>
#include <string>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// The module with `values` as its results and without the calls that none of them needs, unless
/// sizes known at run time only may follow from those.
Module withTaps(const Module& lowered, std::span<const ValueRef> values);

/// Calls that stand each for itself.
struct CutModule
{
    Module module;
    std::vector<ValueRef> inputs; ///< values of `lowered` that became parameters
    std::vector<std::string> inputNames;
};

/// The calls alone: what they read are parameters, what they give are results, call after call.
CutModule cutApart(const Module& lowered, std::span<const NodeId> calls);

} // namespace tenon::compiler
