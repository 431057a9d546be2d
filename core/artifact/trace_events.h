// SPDX-License-Identifier: Apache-2.0
// Measured calls in the format that Chrome's tracing page and Perfetto open.
#pragma once

#include <string>
#include <vector>

namespace tenon::core {

struct TracedCall
{
    std::string title;    ///< for people
    std::string function; ///< of the kernel
    std::string method;
    std::vector<std::string> fromNodes; ///< of the model
    double us = 0;                      ///< median
    double boundUs = 0;                 ///< least time that the machine allows; 0: not known
};

struct TracedRun
{
    std::string model; ///< path, as the program opens it
    std::string board;
    std::string target;
    bool isEmulated = false;
    double medianUs = 0; ///< of the whole model; 0: not known
    std::vector<TracedCall> calls;
};

/// JSON: one event for the model and one for each call, one after another as they run, by their
/// medians. Each call has the nodes that it computes and a command that opens the window at the
/// first of them.
std::string traceEvents(const TracedRun& run);

} // namespace tenon::core
