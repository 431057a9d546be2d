// SPDX-License-Identifier: Apache-2.0
// One case of `tenon verify`: a model with test data sets, and what came of it.
#pragma once

#include "app/cli/board_access.h"
#include "app/cli/last_quantized.h"

#include <optional>
#include <set>

namespace tenon::cli {

struct Tolerance
{
    double relative = 0;
    double absolute = 0;
};

struct CaseOptions
{
    CommonOptions common;
    BoardOptions where;
    std::optional<double> relative; ///< instead of meta.json and the defaults
    std::optional<double> absolute;
    int timeoutS = 120;
};

struct CaseResult
{
    std::string name;
    std::string status; ///< "passed", "failed" or "unsupported"
    std::string reason;
    double maxAbsError = 0;
    std::string place = {};              ///< where it ran: "this computer", "emulated by ..."
    QuantizedDifference quantized = {};  ///< at the last quantized tensors of a quantized model
    std::set<std::string> types = {};    ///< of the model's inputs and outputs
    std::vector<std::string> fixed = {}; ///< inputs that became constants of the compiled model
};

/// How far two tensors are apart; `reason` is empty when `got` is within the tolerance.
struct Comparison
{
    double maxAbsError = 0;
    std::string reason;
};
Comparison compareTensors(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance);

/// Folders below `root` (itself included) that hold model.onnx and test_data_set_0, sorted.
std::vector<std::string> findCases(const std::string& root);

/// Runs all data sets of the case here; the caller isolates it in a child.
CaseResult runCase(const std::string& folder, const CaseOptions& options, JobContext& job);

} // namespace tenon::cli
