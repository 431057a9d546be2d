// SPDX-License-Identifier: Apache-2.0
// Whole numbers of the custom operators that prepare sound for microcontrollers (Signal..): their
// kernels compute in fixed point, which we hold in 64 bits.
#pragma once

#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/custom_options.h"

namespace tenon::compiler {

/// Formulas of int64.
class WholeFormula : public Formula
{
public:
    explicit WholeFormula(TfliteNode& node)
        : Formula(node)
    {
    }

    ValueRef wide(ValueRef value) { return cast(value, kInt64); }
    ValueRef whole(int64_t value) { return integers({value}, {}); }
    ValueRef shiftLeft(ValueRef value, ValueRef bits) { return call("left_shift", {value, bits}); }
    ValueRef shiftRight(ValueRef value, ValueRef bits)
    {
        return call("right_shift", {value, bits});
    }
    /// floor(value / 2^bits), or value * 2^-bits.
    ValueRef shiftRight(ValueRef value, int64_t bits);
    ValueRef atLeast(ValueRef value, int64_t low) { return call("maximum", {value, whole(low)}); }
    ValueRef atMost(ValueRef value, int64_t high) { return call("minimum", {value, whole(high)}); }
    /// What is left of it in an unsigned number of 32 bits.
    ValueRef wrapped32(ValueRef value)
    {
        return call("bitwise_and", {value, whole((int64_t{1} << 32) - 1)});
    }
    /// Position of the highest bit that is set, from 1 on; 0 for 0. Takes numbers of 32 bits.
    ValueRef highestBit(ValueRef value);
    /// 1 where it holds, else 0.
    ValueRef holds(const char* comparison, ValueRef a, ValueRef b)
    {
        return wide(call(comparison, {a, b}));
    }
};

} // namespace tenon::compiler
