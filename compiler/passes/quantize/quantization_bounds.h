// SPDX-License-Identifier: Apache-2.0
// When integers in place of quantized real numbers stay within one step of them: each rewrite of
// quantization_rules.h may only happen where these say so. resources/manual/numerics.md has the
// table.
#pragma once

#include "compiler/passes/quantize/quantized_values.h"

namespace tenon::compiler {

/// What remains of a bias after rounding to whole sums may be left out up to this, in steps.
inline constexpr double kBiasError = 1.0 / 8192;
inline constexpr double kLargestBias = 1 << 30;
/// Of a sum of two, in steps: beyond it their difference would lose digits that show.
inline constexpr double kLargestTerm = 1 << 16;
inline constexpr int64_t kMostSummands = 1 << 20; ///< bytes whose sum surely fits 32 bits

/// The greatest distance of an integer from its zero point.
double reachOf(const Quantized& value);
/// True when binary32 holds the ratios and their products with any 32-bit integer.
bool areRatios(const std::vector<double>& ratios);
/// True when no sum of weights times `reach` plus the channel's bias leaves 32 bits. `weight` is
/// [channels, ...]; `zeros` are one or one per channel.
bool fitSums(const Tensor& weight, const std::vector<int64_t>& zeros, double reach,
             const std::vector<int64_t>& bias);
/// True when rounding both terms of a sum or difference cannot show in a result of `scale`.
bool isSumExact(const Quantized& a, const Quantized& b, double scale);
/// The same of a product.
bool isProductExact(const Quantized& a, const Quantized& b, double scale);

} // namespace tenon::compiler
