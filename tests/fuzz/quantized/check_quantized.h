// SPDX-License-Identifier: Apache-2.0
// Running one quantized graph as compiled and counting how far its integers are from the exact
// ones.
#pragma once

#include "compiler/driver/compile.h"
#include "core/base/result.h"
#include "core/jobs/job.h"
#include "tests/fuzz/quantized/quantized_graph.h"

#include <map>
#include <string>

namespace tenon::test {

/// Integers that were compared with exact ones.
struct Steps
{
    int64_t elements = 0;
    int64_t one = 0;  ///< of them a step apart
    int64_t more = 0; ///< of them further apart
    double largest = 0;

    void add(double difference);
    void add(const Steps& other);
    double shareWithinOne() const;
    std::string text() const;
};

/// One way to compile and run graphs.
struct QuantizedSetting
{
    std::string target = "llvm -mcpu=native";
    int optLevel = 3;
    compiler::ExecutorKind executor = compiler::ExecutorKind::Aot;
    unsigned threads = 1;
};

/// What came out: of whole graphs, and of each tensor fed the exact inputs of its own piece.
struct QuantizedDifferences
{
    Steps whole;                        ///< results of the model as it is
    Steps tapped;                       ///< all tensors, of the model that returns them
    std::map<std::string, Steps> local; ///< by what stands in front of the quantization
    std::string worst;                  ///< the first tensor that is more than a step off locally

    void add(const QuantizedDifferences& other);
    Steps allLocal() const;
};

/// The three forms of the graph; `folder` receives each as a case for `tenon verify`.
core::Result<QuantizedDifferences> checkQuantized(const QuantizedGraph& graph,
                                                  const QuantizedSetting& setting,
                                                  const std::string& folder, core::JobContext& job);

} // namespace tenon::test
