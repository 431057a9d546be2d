// SPDX-License-Identifier: Apache-2.0
// ModelCounts: the numbers by which people compare models, each with one definition.
#pragma once

#include "core/ir/module.h"

#include <cstdint>

namespace tenon::core {

struct ModelCounts
{
    int64_t fileNodes = 0;   ///< nodes of the file's graph as its exporter wrote them
    int64_t graphNodes = 0;  ///< nodes of the graph that the import made of them
    int64_t nestedNodes = 0; ///< nodes in the bodies of its If, Loop and Scan
    int64_t parameters = 0;  ///< elements of all initializers
    int64_t parameterBytes = 0;
    int64_t macs = 0; ///< multiply-accumulates of convolutions and products of the imported graph

    friend bool operator==(const ModelCounts&, const ModelCounts&) = default;
};

/// Nodes of the main function that compute something: no constants, no parameters.
int64_t graphNodes(const Module& module);
/// The same of the functions nested in them, at any depth; members of fused calls do not count.
int64_t nestedNodes(const Module& module);

} // namespace tenon::core
