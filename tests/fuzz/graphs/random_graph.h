// SPDX-License-Identifier: Apache-2.0
// Random valid ONNX graphs, each made by a seed.
#pragma once

#include "compiler/frontend/onnx/onnx.pb.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace tenon::test {

/// Kernels round differently, graphs multiply that.
inline constexpr double kPlainTolerance = 2e-3;

struct RandomGraph
{
    tenon_onnx::ModelProto model;
    std::vector<std::pair<std::string, core::Tensor>> inputs;
    /// If, Loop or sizes that depend on data: only the VM runs it, and no oracle evaluates it.
    bool needsVm = false;
    double tolerance = kPlainTolerance; ///< of the largest value
};

/// Equal seeds give equal graphs.
RandomGraph makeRandomGraph(uint64_t seed);
/// Of the layers of convolutional networks alone.
RandomGraph makeRandomImageGraph(uint64_t seed);

} // namespace tenon::test
