// SPDX-License-Identifier: Apache-2.0
// How TensorFlow writes a convolution with gaps: SPACE_TO_BATCH_ND, one without, BATCH_TO_SPACE_ND.
#pragma once

#include "compiler/frontend/tflite/file/tflite_model.h"

#include <optional>

namespace tenon::compiler {

struct BlockChain
{
    const TfliteOperator* conv = nullptr;
    const TfliteOperator* last = nullptr;         ///< BATCH_TO_SPACE_ND
    std::vector<const TfliteOperator*> between{}; ///< the first operator and it
    bool isSequence = false; ///< [batch, time, channels], which is a picture on the way
    size_t axis = 0;         ///< of the picture, that the sequence, or the first block, runs along
};

/// Those that `first`, a SPACE_TO_BATCH_ND, begins, where nobody else reads what is between.
std::optional<BlockChain> blockChainFrom(const TfliteSubgraph& graph, const TfliteOperator& first);

} // namespace tenon::compiler
