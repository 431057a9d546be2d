// SPDX-License-Identifier: Apache-2.0
// One case of `tenon verify`: a model with test data sets, and what came of it.
#pragma once

#include "app/cli/board_access.h"
#include "app/cli/verify_judge.h"

#include <optional>
#include <set>

namespace tenon::cli {

struct CaseOptions
{
    CommonOptions common;
    BoardOptions where;
    std::string boardProject;       ///< of that board, if it is one on a serial line
    std::optional<double> relative; ///< instead of meta.json and the defaults
    std::optional<double> absolute;
    int timeoutS = 120;
};

/// One output of one data set.
struct OutputResult
{
    size_t set = 0;
    size_t output = 0;
    Tolerance tolerance;
    Judgement judgement;
};

struct CaseResult
{
    std::string name;
    std::string status; ///< "passed", "failed" or "unsupported"
    std::string reason;
    double maxAbsError = 0;
    std::string place = {};                 ///< where it ran: "this computer", "emulated by ..."
    std::string sha256 = {};                ///< of the artifact that was judged last
    unsigned threads = 0;                   ///< it ran with
    std::vector<std::string> bindings = {}; ///< options with which `compile` writes that artifact
    std::vector<OutputResult> outputs = {};
    std::set<std::string> types = {};    ///< of the model's inputs and outputs
    std::vector<std::string> fixed = {}; ///< inputs that became constants of the compiled model
};

/// Folders below `root` (itself included) that hold a model (`model.onnx`, ..) and test_data_set_0,
/// sorted.
std::vector<std::string> findCases(const std::string& root);

/// Runs all data sets of the case here; the caller isolates it in a child.
CaseResult runCase(const std::string& folder, const CaseOptions& options, JobContext& job);

} // namespace tenon::cli
