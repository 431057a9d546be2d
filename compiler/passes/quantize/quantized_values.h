// SPDX-License-Identifier: Apache-2.0
// Reading quantization in a graph: which real values are integers with a scale, and what a
// quantization asks for.
#pragma once

#include "compiler/passes/quantize/integer_costs.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"
#include "core/jobs/job.h"

namespace tenon::compiler {

/// What the rules look at.
struct QuantizationSite
{
    const Module& module;
    const GraphFunction& function;
    const UseIndex& uses;
    const JobContext& job;
    const IntegerCosts& costs;
};

/// A real value that is (integers - zero point) * scale.
struct Quantized
{
    ValueRef integers;
    ValueRef zeroPoint;         ///< operand of the dequantization; invalid: 0
    std::vector<double> scales; ///< one, or one per element of `axis`
    std::vector<int64_t> zeros; ///< as scales
    int64_t axis = 0;
    DataType dtype;

    bool isPerTensor() const { return scales.size() == 1; }
};

/// What qnn.dequantize with constant binary32 scales gives; nothing for anything else.
std::optional<Quantized> readDequantized(const QuantizationSite& site, ValueRef value);

/// A qnn.quantize of one constant scale to 8 bits, and the activation in front of it as limits.
struct QuantizeTarget
{
    const NodeRecord* node = nullptr;
    double scale = 1;
    int64_t zero = 0;
    DataType dtype;
    int64_t low, high;            ///< limits of the integers
    ValueRef input;               ///< what is quantized, in front of the activation
    std::vector<NodeId> consumed; ///< activations and the quantization
    ValueRef zeroPoint;           ///< operand of the quantization; invalid: 0

    Attrs limits() const; ///< a_min, a_max and out_dtype
};
std::optional<QuantizeTarget> readQuantize(const QuantizationSite& site, const NodeRecord& node);

/// The value of an expression of constants, evaluated now; nothing when it depends on data.
std::optional<Tensor> constantValue(const QuantizationSite& site, ValueRef value);

/// Constants for the integer form: of binary32 and of 32-bit integers.
Tensor floats(const std::vector<double>& values, std::vector<int64_t> shape);
Tensor integers(const std::vector<int64_t>& values, std::vector<int64_t> shape);

/// The same table of bytes for indices whose highest bit is the other one: entry i is entry i xor
/// 128.
Tensor withSignBitFlipped(const Tensor& table);

} // namespace tenon::compiler
