// SPDX-License-Identifier: Apache-2.0
// Commands of the peer and their answers.
#include "remote/peer/peer_program.h"

#include "remote/peer/ort_session.h"

#include <nlohmann/json.hpp>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sstream>

namespace tenon::remote {
namespace {

using core::Result;
using core::Status;
using Json = nlohmann::json;

Json errorOf(const Status& done) { return {{"error", done.error().message}}; }
Json answerOf(const Status& done) { return done ? Json{{"done", true}} : errorOf(done); }

/// Milliseconds of one run: the mean of as many as were asked for and take so long.
Result<double> sample(OrtSession& session, int number, double leastMs)
{
    int runs = 0;
    std::chrono::duration<double, std::milli> took{};
    const auto start = std::chrono::steady_clock::now();
    do {
        if (Status done = session.run(); !done) return done.error();
        ++runs;
        took = std::chrono::steady_clock::now() - start;
    } while (runs < number || took.count() < leastMs);
    return took.count() / runs;
}

Json samples(OrtSession& session, int count, int number, double leastMs)
{
    if (Status warm = session.run(); !warm) return errorOf(warm);
    std::vector<double> ms;
    for (int i = 0; i < count; ++i) {
        const Result<double> one = sample(session, number, leastMs);
        if (!one) return {{"error", one.error().message}};
        ms.push_back(*one);
    }
    return {{"ms", ms}};
}

Json timeRuns(OrtSession& session, int count)
{
    std::vector<double> ms;
    for (int i = 0; i < count; ++i) {
        const Result<double> one = sample(session, 1, 0);
        if (!one) return {{"error", one.error().message}};
        ms.push_back(*one);
    }
    std::sort(ms.begin(), ms.end());
    return {{"runs", count},
            {"min_ms", ms.front()},
            {"median_ms", ms[ms.size() / 2]},
            {"max_ms", ms.back()}};
}

Json answerTo(OrtSession& session, const std::string& line, std::string& dataSet)
{
    std::istringstream words(line);
    std::string word, path;
    int count = 0, number = 0;
    double leastMs = 0;
    words >> word;
    if (word == "run" && words >> count && count > 0) return timeRuns(session, count);
    if (word == "sample" && words >> count >> number >> leastMs && count > 0)
        return samples(session, count, number, leastMs);
    if (word == "write" && words >> path) return answerOf(session.writeOutputs(path));
    if (word == "open" && words >> path >> dataSet)
        return answerOf(session.open(path, dataSet, {}));
    double share = kFloatShare;
    if (word != "check" || !(words >> path >> share))
        return {{"error", "commands are `run K`, `sample K N MS`, `check DIR SHARE`, `write DIR` "
                          "and `open MODEL DATA_SET`"}};
    const auto found = session.difference(path, share);
    if (!found) return {{"error", found.error().message}};
    return {{"max_abs_error", found->maxAbsError},
            {"largest", found->largest},
            {"elements", found->elements},
            {"outside", found->outside},
            {"difference", found->text()}};
}

/// As many processors as threads, so that both sides of a comparison have the same.
void keepToProcessors(int threads)
{
    cpu_set_t allowed, kept;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    CPU_ZERO(&kept);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&kept) < threads; ++cpu)
        if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &kept);
    sched_setaffinity(0, sizeof kept, &kept);
}

bool say(FILE* output, const Json& answer)
{
    // Messages of a library may hold any bytes.
    const std::string line = answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    return std::fwrite(line.data(), 1, line.size(), output) == line.size() &&
           std::fflush(output) == 0;
}

} // namespace

int runPeerProgram(const std::vector<std::string>& arguments, int input, int output)
{
    FILE* commands = ::fdopen(input, "r");
    FILE* answers = ::fdopen(output, "w");
    const bool isAsWritten = arguments.size() == 5 && arguments[4] == kAsWritten;
    const bool hasModel = arguments.size() == 4 || isAsWritten;
    if (!commands || !answers || (arguments.size() != 1 && !hasModel)) return 2;
    OrtSession session;
    std::string dataSet;
    Status done = session.load(arguments[0]);
    if (hasModel) {
        dataSet = arguments[2];
        const int threads = std::max(1, std::atoi(arguments[3].c_str()));
        keepToProcessors(threads);
        if (done) done = session.open(arguments[1], dataSet, {threads, !isAsWritten});
    }
    if (!done) {
        say(answers, errorOf(done));
        return 1;
    }
    say(answers, {{"name", "onnxruntime"},
                  {"version", session.version()},
                  {"session_ms", session.sessionMs()},
                  {"first_run_ms", session.firstRunMs()}});
    std::string line;
    for (int c = std::fgetc(commands); c != EOF; c = std::fgetc(commands)) {
        if (c != '\n') {
            line += static_cast<char>(c);
            continue;
        }
        if (!say(answers, answerTo(session, line, dataSet))) return 1;
        line.clear();
    }
    return 0;
}

} // namespace tenon::remote
