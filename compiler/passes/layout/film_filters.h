// SPDX-License-Identifier: Apache-2.0
// Filters of convolutions over three axes, as floats or as integers with scales.
#pragma once

#include "compiler/passes/rewrite.h"

#include <optional>

namespace tenon::compiler {

using namespace core;

struct FilmFilters
{
    const Tensor* weight; ///< [O, C, KD, KH, KW]
    const NodeRecord* constant;
    const NodeRecord* dequantize = nullptr; ///< of integers: one scale, or one per filter
};

std::optional<FilmFilters> readFilmFilters(const Module& module, ValueRef operand);
/// [O, C, KD, KH, KW] -> [O, taps * C, KH, KW] with the taps first to first + taps.
Tensor filtersOfFrames(const Tensor& weight, int64_t first, int64_t taps);
/// Whether a convolution over three axes has filters of integers.
bool hasFilmsOfIntegers(const Module& module, const GraphFunction& function);

} // namespace tenon::compiler
