// SPDX-License-Identifier: Apache-2.0
// Traces that Chrome and Perfetto read.
#include "core/artifact/trace_events.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tenon::core {
namespace {

TEST(TraceEvents, PutsCallsOneAfterAnotherWithTheirNodes)
{
    TracedRun run{
        .model = "it's.onnx", .board = "pi", .target = "llvm", .isEmulated = true, .medianUs = 31};
    run.calls = {{"conv 3x3", "k_conv", "direct", {"conv0", "relu0"}, 20, 5},
                 {"add", "k_add", "", {}, 10, 0}};
    const auto trace = nlohmann::json::parse(traceEvents(run));
    std::vector<nlohmann::json> events;
    for (const auto& event : trace["traceEvents"])
        if (event["ph"] == "X") events.push_back(event);
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0]["dur"], 30);
    EXPECT_EQ(events[0]["args"]["median_us"], 31);
    EXPECT_EQ(events[0]["args"]["board"], "pi (emulated)");
    EXPECT_EQ(events[1]["name"], "conv 3x3");
    EXPECT_EQ(events[1]["ts"], 0);
    EXPECT_EQ(events[2]["ts"], 20);
    EXPECT_EQ(events[1]["args"]["nodes"], (std::vector<std::string>{"conv0", "relu0"}));
    EXPECT_EQ(events[1]["args"]["bound_us"], 5);
    EXPECT_EQ(events[1]["args"]["open"],
              "tenon-workbench 'it'\\''s.onnx' --perspective passes --select 'conv0'");
    EXPECT_FALSE(events[2]["args"].contains("open"));
    EXPECT_FALSE(events[2]["args"].contains("bound_us"));
}

TEST(TraceEvents, StaysJsonWithNamesThatAreNoText)
{
    TracedRun run{.model = "a", .board = "b", .target = "c"};
    run.calls = {{"x\xff\n", "k", "", {"\xfe"}, 1, 0}};
    EXPECT_TRUE(nlohmann::json::accept(traceEvents(run)));
}

} // namespace
} // namespace tenon::core
