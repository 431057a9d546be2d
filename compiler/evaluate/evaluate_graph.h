// SPDX-License-Identifier: Apache-2.0
// Evaluating graph IR on this computer without code generation: folding and numeric verification.
#pragma once

#include "core/base/result.h"
#include "core/ir/module.h"
#include "core/jobs/job.h"
#include "core/tensor/tensor.h"

#include <map>
#include <string>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// Whether a quotient or remainder of integers has no value for these operands.
bool dividesByZero(const NodeRecord& node, const std::vector<Tensor>& inputs);

/// Results of one Op node for the given operand values (null tensors for absent operands), through
/// the operator's compute declaration. Shapes are those of `inputs` and of the node's types. Error
/// BadModel where it divides an integer by zero.
Result<std::vector<Tensor>> evaluateNode(const Module& module, const NodeRecord& node,
                                         const std::vector<Tensor>& inputs, const JobContext& job);

/// Results of main for inputs by parameter name. Any stage of lowering: operators, calls of
/// primitive functions, calls of loop functions. Errors name the parameter that is missing or has
/// another type.
Result<std::vector<Tensor>> evaluateGraph(const Module& module,
                                          const std::map<std::string, Tensor>& inputs,
                                          const JobContext& job);

} // namespace tenon::compiler
