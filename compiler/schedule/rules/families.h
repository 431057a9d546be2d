// SPDX-License-Identifier: Apache-2.0
// The schedule of each operator family; rules.cpp lists which kernels they take.
#pragma once

#include "compiler/schedule/schedule.h"
#include "core/target/target_facts.h"

namespace tenon::compiler {

/// Scores, softmax and mixture of a few queries at a time.
void scheduleAttention(Schedule& schedule, const TargetFacts& facts);
void scheduleConv2dNchwc(Schedule& schedule, const TargetFacts& facts);
/// Blocked convolutions and pools that follow one another.
void scheduleConvChain(Schedule& schedule, const TargetFacts& facts);
bool isConvChain(const tir::PrimFunc& function);
/// Blocked convolutions by Winograd's transforms.
void scheduleConv2dStrassen(Schedule& schedule, const TargetFacts& facts);
void scheduleConv2dWinograd(Schedule& schedule, const TargetFacts& facts);
/// Plain NCHW data, also transposed.
void scheduleConv2dPlain(Schedule& schedule, const TargetFacts& facts);
/// Rows x columns products: dense, dense_pack, matmul.
void scheduleMatmul(Schedule& schedule, const TargetFacts& facts);
/// Products of which nobody counted the columns yet, or the rows or the depth of whole vectors.
bool hasOpenColumns(const tir::PrimFunc& function, const TargetFacts& facts);
void scheduleOpenColumns(Schedule& schedule, const TargetFacts& facts);
/// Dense layers whose weights are rows of bytes.
void scheduleDenseRuns(Schedule& schedule, const TargetFacts& facts);
void scheduleSoftmax(Schedule& schedule, const TargetFacts& facts);
/// Blocked depthwise convolutions and pools.
void scheduleWindow(Schedule& schedule, const TargetFacts& facts);

} // namespace tenon::compiler
