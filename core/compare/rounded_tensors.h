// SPDX-License-Identifier: Apache-2.0
// Who is to blame where the reference rounds elsewhere or nowhere: error adds up from layer to
// layer, and what integers clip may be what nobody reads.
#pragma once

#include "core/compare/comparison.h"

namespace tenon::core {

/// Who takes a tensor of a comparison.
struct TensorReaders
{
    std::vector<size_t> tensors = {}; ///< those that are computed of it, by index
    bool hasOthers = false;           ///< others take it, too, that are not compared
    bool isResult = false;            ///< of the model
};

/// Takes the limits' verdict on every tensor alone (TensorError::isRounded) for one on the program.
/// Rounded is also what is computed of integers that are a step off (isSteppedInside), or of what
/// is rounded:
/// - Clipping that moves no reader out of tolerance is none: the readers clip there themselves.
/// - A tensor leaves tolerance where its own kernel does, rounded or not. Of rounded ones, results
///   of the model also below `leastMixedDb`, whoever is to blame. Without an isolated error, that
///   is asked of all.
void judgeRounded(Comparison& comparison, const std::vector<TensorReaders>& readers);

} // namespace tenon::core
