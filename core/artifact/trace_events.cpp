// SPDX-License-Identifier: Apache-2.0
// Complete events ("ph": "X") of one process; times in microseconds.
#include "core/artifact/trace_events.h"

#include <nlohmann/json.hpp>

namespace tenon::core {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kProcess = 1;
constexpr int kModelThread = 1;
constexpr int kCallThread = 2;

/// A word of a shell.
std::string quotedWord(const std::string& word)
{
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

Json named(const char* what, const std::string& name, int thread)
{
    return {{"name", what},
            {"ph", "M"},
            {"pid", kProcess},
            {"tid", thread},
            {"args", {{"name", name}}}};
}

Json eventOf(const std::string& name, const char* category, int thread, double start, double us)
{
    return {{"name", name},  {"cat", category}, {"ph", "X"}, {"pid", kProcess},
            {"tid", thread}, {"ts", start},     {"dur", us}};
}

Json argsOf(const TracedRun& run, const TracedCall& call, double total)
{
    Json args{{"function", call.function}, {"nodes", call.fromNodes}};
    if (!call.method.empty()) args["method"] = call.method;
    if (total > 0) args["share"] = call.us / total;
    if (call.boundUs > 0) args["bound_us"] = call.boundUs;
    if (!call.fromNodes.empty() && !run.model.empty())
        args["open"] = "tenon-workbench " + quotedWord(run.model) +
                       " --perspective passes --select " + quotedWord(call.fromNodes.front());
    return args;
}

} // namespace

std::string traceEvents(const TracedRun& run)
{
    double total = 0;
    for (const TracedCall& call : run.calls) total += call.us;
    const std::string place = run.isEmulated ? run.board + " (emulated)" : run.board;
    Json events = Json::array();
    events.push_back(named("process_name", run.model + " on " + place, 0));
    events.push_back(named("thread_name", "model", kModelThread));
    events.push_back(named("thread_name", "kernel calls", kCallThread));
    Json whole = eventOf(run.model, "model", kModelThread, 0, total);
    whole["args"] = {{"target", run.target}, {"board", place}, {"calls", run.calls.size()}};
    if (run.medianUs > 0) whole["args"]["median_us"] = run.medianUs;
    events.push_back(std::move(whole));
    double start = 0;
    for (const TracedCall& call : run.calls) {
        Json event = eventOf(call.title, "kernel", kCallThread, start, call.us);
        event["args"] = argsOf(run, call, total);
        events.push_back(std::move(event));
        start += call.us;
    }
    const Json out{{"displayTimeUnit", "ms"},
                   {"otherData",
                    {{"method", "medians of each call in their order, without the time between "
                                "them"}}},
                   {"traceEvents", std::move(events)}};
    // Names come from files: what is no UTF-8 is replaced.
    return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace tenon::core
