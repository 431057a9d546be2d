// SPDX-License-Identifier: Apache-2.0
// The rules of FakeQuantizationToInteger, one per shape of what stands between dequantization and
// quantization; each writes the same value with integer operators, or nothing.
#pragma once

#include "compiler/passes/quantize/quantized_values.h"

namespace tenon::compiler {

using QuantizeRule = std::optional<Patch> (*)(const QuantizationSite&, const QuantizeTarget&);

/// Convolution or dense layer with an optional bias.
std::optional<Patch> quantizeLayer(const QuantizationSite& site, const QuantizeTarget& target);
/// Sum, difference or product of two quantized tensors.
std::optional<Patch> quantizeBinary(const QuantizationSite& site, const QuantizeTarget& target);
/// Mean over whole planes.
std::optional<Patch> quantizeMean(const QuantizationSite& site, const QuantizeTarget& target);
/// Mean over windows.
std::optional<Patch> quantizePool(const QuantizationSite& site, const QuantizeTarget& target);
/// Concatenation: parts of another scale are requantized first.
std::optional<Patch> quantizeConcat(const QuantizationSite& site, const QuantizeTarget& target);
/// A quantized tensor under another scale.
std::optional<Patch> requantize(const QuantizationSite& site, const QuantizeTarget& target);
/// PReLU of a quantized tensor, a slope per channel below zero.
std::optional<Patch> quantizeSlopes(const QuantizationSite& site, const QuantizeTarget& target);
/// Nodes of a function that becomes a table.
inline constexpr size_t kLongestFunction = 24;
/// Any elementwise function of one 8-bit tensor: a table of its 256 values.
std::optional<Patch> quantizeByTable(const QuantizationSite& site, const QuantizeTarget& target);
/// Bytes of one scale under the target's, looked up; nothing where that is no cheaper.
std::optional<ValueRef> requantizeByTable(const QuantizationSite& site, PatchWriter& patch,
                                          const QuantizeTarget& target, const Quantized& value);

/// Parts of integers for parts of the real values that stand for them.
std::optional<Patch> splitIntegers(const QuantizationSite& site, const NodeRecord& node);
/// What makes a layer of the node for the rules above to find; nothing where it is none.
std::optional<Patch> matmulAsDense(const QuantizationSite& site, const NodeRecord& node);
/// A quantization that stands behind the reshape of a layer, in front of it.
std::optional<Patch> quantizeBeforeReshape(const QuantizationSite& site, const NodeRecord& node);
/// One that stands between a layer in floats and a maximum of windows, behind the latter.
std::optional<Patch> quantizeBehindPool(const QuantizationSite& site, const NodeRecord& node);
/// The share of its numbers that it rounds there; 1 where no such maximum reads it.
double roundedBehindPool(const QuantizationSite& site, const NodeRecord& quantize);

/// The writer for one rule: consumes the target and `others`.
PatchWriter quantizePatch(const QuantizationSite& site, const QuantizeTarget& target,
                          std::string rule, std::string reason, std::vector<NodeId> others);
/// The zero point as the operand of an integer operator.
ValueRef zeroPointOf(PatchWriter& patch, const QuantizeTarget& target);
/// That of what an integer operator reads; nothing where it is 0.
ValueRef zeroOperand(PatchWriter& patch, const Quantized& value);
inline bool isByte(const Quantized& value) { return value.dtype == kInt8 || value.dtype == kUInt8; }
/// Puts `value` in place of the quantization and drops what was consumed.
Patch finishQuantize(PatchWriter& patch, const QuantizeTarget& target, ValueRef value,
                     const std::vector<NodeId>& others);

} // namespace tenon::compiler
