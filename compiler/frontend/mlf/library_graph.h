// SPDX-License-Identifier: Apache-2.0
// The graph executor's JSON in a Model Library Format archive: which kernel reads what.
#pragma once

#include "core/base/result.h"
#include "core/ir/type.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::compiler {

/// One output of one node.
struct LibraryValue
{
    size_t node = 0;
    size_t output = 0;
};

struct LibraryNode
{
    std::string name;
    std::string function; ///< "__nop" for a view; empty for an input or a constant
    std::vector<LibraryValue> inputs;
    size_t firstEntry = 0; ///< index of its first output in `types` and `storages`
    size_t outputs = 1;
};

/// Nodes stand behind those that they read.
struct LibraryGraph
{
    std::vector<LibraryNode> nodes;
    std::vector<LibraryValue> results;
    std::vector<core::TensorType> types;
    std::vector<int64_t> storages;
};

/// Errors are BadModel and name the node and what is wrong with it: no JSON, a part that is
/// missing or of another type, a node that reads a later one (so that a cycle is none), an output
/// that is not there, lists of different lengths, a shape that no memory holds.
core::Result<LibraryGraph> readLibraryGraph(std::string_view json);

} // namespace tenon::compiler
