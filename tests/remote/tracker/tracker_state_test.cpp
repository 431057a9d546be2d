// SPDX-License-Identifier: Apache-2.0
// Whom the tracker lets offer, ask and end, message by message.
#include "remote/tracker/tracker_state.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

using namespace std::chrono_literals;

TEST(TrackerState, acceptOffersOnlyFromTheHostsTheyAreTold)
{
    TrackerState state({.offerers = {*AddressRange::parse("192.168.1.0/24")}});
    bool isGood = true;
    state.open(1, "192.168.1.7", 0ms);
    state.open(2, "10.0.0.1", 0ms);
    const std::string put = R"([3,"k",[9000,"k:0.1"],null])";
    const std::string info = R"([5,{"key":"server:k","addr":[null,9000]}])";
    EXPECT_EQ(state.handle(2, put, 0ms, isGood).at(0).message, "-1");
    EXPECT_FALSE(isGood);
    EXPECT_EQ(state.handle(2, info, 0ms, isGood).at(0).message, "-1");
    EXPECT_EQ(state.handle(1, info, 0ms, isGood).at(0).message, "0");
    EXPECT_EQ(state.handle(1, put, 0ms, isGood).at(0).message, "0");
    EXPECT_TRUE(isGood);
    // Somebody else can ask for a server, but not see its secret.
    EXPECT_EQ(state.handle(2, "[7]", 0ms, isGood).at(0).message, "[]");
    EXPECT_EQ(state.handle(2, R"([4,"k","u",1])", 0ms, isGood).at(0).message,
              R"([0,["192.168.1.7",9000,"k:0.1"]])");
}

TEST(TrackerState, endOnlyForWhoKnowsTheKey)
{
    bool isGood = true;
    TrackerState open({});
    EXPECT_EQ(open.handle(1, R"([2,""])", 0ms, isGood).at(0).message, "-1");
    EXPECT_FALSE(open.hasEnded()) << "no key is no password";
    TrackerState keyed({.stopKey = "enough"});
    EXPECT_EQ(keyed.handle(1, R"([2,"more"])", 0ms, isGood).at(0).message, "-1");
    EXPECT_FALSE(keyed.hasEnded());
    EXPECT_EQ(keyed.handle(1, R"([2,"enough"])", 0ms, isGood).at(0).message, "0");
    EXPECT_TRUE(keyed.hasEnded());
}

TEST(TrackerState, limitWhatOnePeerMayFillTheMemoryWith)
{
    bool isGood = true;
    TrackerState state({});
    state.open(1, "10.0.0.1", 0ms);
    state.open(2, "10.0.0.2", 0ms);
    size_t offers = 0;
    for (; isGood && offers < 60000; ++offers) {
        const std::string number = std::to_string(offers + 1);
        state.handle(1, "[3,\"a\",[" + number + ",\"k" + number + "\"],null]", 0ms, isGood);
    }
    EXPECT_EQ(offers, 65u); // the last was one too many
    isGood = true;
    size_t requests = 0;
    for (; isGood && requests < 100000; ++requests)
        state.handle(2, R"([4,"nobody","u",1])", 0ms, isGood);
    EXPECT_LT(requests, 100000u);
}

TEST(TrackerState, knowRangesOfAddresses)
{
    for (const char* bad : {"", "pi", "1.2.3", "1.2.3.4/", "1.2.3.4/33", "1.2.3.4/x", "::1"})
        EXPECT_FALSE(AddressRange::parse(bad)) << bad;
    EXPECT_TRUE(AddressRange::parse("1.2.3.4")->contains("1.2.3.4"));
    EXPECT_FALSE(AddressRange::parse("1.2.3.4")->contains("1.2.3.5"));
    EXPECT_TRUE(AddressRange::parse("1.2.3.4/31")->contains("1.2.3.5"));
    EXPECT_TRUE(AddressRange::parse("any")->contains("255.255.255.255"));
    EXPECT_TRUE(AddressRange::parse("1.2.3.4/0")->contains("8.8.8.8"));
    EXPECT_FALSE(AddressRange::parse("any")->contains("somewhere"));
}

} // namespace
} // namespace tenon::remote
