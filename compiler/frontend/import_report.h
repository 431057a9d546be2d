// SPDX-License-Identifier: Apache-2.0
// ImportReport: what became of every node of the file.
#pragma once

#include "compiler/frontend/loaded.h"

#include <string>
#include <vector>

namespace tenon::compiler {

enum class NodeVerdict : uint8_t
{
    Supported,
    Noted,       ///< supported, with something to know
    Unsupported, ///< the standard allows it, we do not compile it
    Invalid,     ///< the standard is violated
    Unreached    ///< it follows a node that could not be imported
};
const char* verdictText(NodeVerdict verdict);

struct NodeReport
{
    std::string node;
    std::string op;
    NodeVerdict verdict = NodeVerdict::Supported;
    std::string why; ///< empty when supported; ends with what would help
};

struct ImportReport
{
    std::vector<NodeReport> nodes;  ///< in the file's order
    std::vector<std::string> model; ///< problems of no single node: inputs, initializers, opsets
    size_t count(NodeVerdict verdict) const;
};

ImportReport importReport(const Loaded& loaded);

} // namespace tenon::compiler
