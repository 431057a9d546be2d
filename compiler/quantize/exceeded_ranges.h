// SPDX-License-Identifier: Apache-2.0
// Whether data go beyond what calibration saw, and so are rounded by ranges that are not theirs.
#pragma once

#include "compiler/quantize/measure_loss.h"

#include <optional>

namespace tenon::compiler {

/// Fills in what the tensors of `report` held in the measured sets, beside what was seen.
void addMeasuredRanges(const FloatValues& measured, std::vector<TensorAccount>& tensors);

/// A warning when further examples are likely to go beyond so few.
std::optional<Diagnostic> fewExamples(size_t dataSets);

/// A warning when more of the measured sets go beyond than sets of the same kind do by chance:
/// beside `dataSets` calibrated ones, one more is the least or the greatest once in
/// (dataSets + 1) / 2, and so many of them may be four deviations more.
std::optional<Diagnostic> exceededRanges(const std::vector<TensorAccount>& tensors, size_t dataSets,
                                         size_t measuredSets);

/// Of a tensor with a range of its own that is 0 for all data, or an input that is another number.
std::optional<Diagnostic> sameForAll(const TensorAccount& tensor, const ValueHistogram& seen);

} // namespace tenon::compiler
