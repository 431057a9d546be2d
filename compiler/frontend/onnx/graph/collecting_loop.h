// SPDX-License-Identifier: Apache-2.0
// Loops that only append to sequences, as loops that collect.
#pragma once

#include "compiler/frontend/onnx/onnx.pb.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler {

struct CollectingLoop
{
    tenon_onnx::NodeProto loop;         ///< gives the tensors of each sequence, stacked, at its end
    std::vector<std::string> sequences; ///< names, "" where nobody wants one; in the same order
};

/// Of a sequence, the name of the tensor of its elements, stacked.
std::string stackedName(const std::string& sequence);

/// The Loop without the carried values at `sequences` (positions among the carried ones,
/// ascending): in place of each that starts empty and that the body appends to at its end once a
/// step, the loop collects what is appended. Nothing where the body does anything else with one.
std::optional<CollectingLoop> collectingLoop(const tenon_onnx::NodeProto& loop,
                                             const std::vector<int>& sequences);

} // namespace tenon::compiler
