// SPDX-License-Identifier: Apache-2.0
// The last quantized tensors of a model: where a quantized model is compared.
#pragma once

#include "compiler/frontend/loaded.h"

#include <optional>

namespace tenon::cli {

using namespace core;

/// The model with the tensors that its last dequantizations read as further results, behind its
/// own; nothing when no result comes from a tensor quantized inside.
std::optional<compiler::Loaded> withLastQuantized(const compiler::Loaded& loaded);

/// How far quantized tensors are apart, in steps.
struct QuantizedDifference
{
    int64_t elements = 0;
    int64_t different = 0;
    int64_t largest = 0;

    void add(const Tensor& got, const Tensor& wanted);
};

} // namespace tenon::cli
