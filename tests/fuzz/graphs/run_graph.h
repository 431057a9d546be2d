// SPDX-License-Identifier: Apache-2.0
// Running one random graph by every executor and comparing.
#pragma once

#include "core/jobs/job.h"
#include "tests/fuzz/graphs/peer.h"
#include "tests/fuzz/graphs/random_graph.h"

#include <string>

namespace tenon::test {

struct GraphCheck
{
    bool isSkipped = false;  ///< no finite values, so there is nothing to compare
    std::string mismatch;    ///< empty: all agree
    std::string caseFolder;  ///< the graph and its values as a case for `tenon verify`
    double largest = 0;      ///< relative difference between two evaluations
    bool isCompared = false; ///< with the peer as well
    std::string refusal;     ///< why the peer does not run it
};

/// The interpreter, then graph, AOT and VM at opt levels 0 and 3 (what only the VM runs: the VM),
/// and the peer. `folder` receives model.onnx and test_data_set_0.
GraphCheck checkGraph(const RandomGraph& graph, const std::string& folder, Peer& peer,
                      core::JobContext& job);

} // namespace tenon::test
