// SPDX-License-Identifier: Apache-2.0
// The last quantized tensors of a model, and what follows them.
#pragma once

#include "compiler/frontend/loaded.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::cli {

using namespace core;

/// A quantized model cut at the last tensors that are rounded to integers inside it.
struct QuantizedTail
{
    compiler::Loaded head;          ///< the model with those tensors as further results
    compiler::Loaded tail;          ///< the model with them as further inputs
    std::vector<std::string> names; ///< of the further inputs, in the order of the results
    size_t outputs = 0;             ///< of the model itself
};

/// Nothing when no result comes from such a tensor, or when every operator before them is exact:
/// then nothing may round another way.
std::optional<QuantizedTail> quantizedTail(const compiler::Loaded& loaded);

} // namespace tenon::cli
