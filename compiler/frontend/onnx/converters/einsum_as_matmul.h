// SPDX-License-Identifier: Apache-2.0
// einsumAsMatmul: the product of two tensors, summed over letters they share, as one product of
// matrices between transpositions and reshapes.
#pragma once

#include "compiler/frontend/onnx/graph/onnx_node.h"

#include <optional>

namespace tenon::compiler {

/// A tensor and a letter for each of its dimensions.
struct EinsumFactor
{
    std::string letters;
    ValueRef value;
};

/// The product with the letters of `result`, in that order; nothing where a letter stands twice in
/// a factor or for sizes that may differ, or the factors share none to sum over.
std::optional<ValueRef> einsumAsMatmul(OnnxNode& node, const EinsumFactor& a, const EinsumFactor& b,
                                       const std::string& result);

} // namespace tenon::compiler
