// SPDX-License-Identifier: Apache-2.0
// A tracker's messages: whatever arrives is answered with JSON, to connections that are there.
// A message follows one digit that says whose it is.
#include "core/base/check.h"
#include "remote/tracker/tracker_state.h"
#include "remote/tracker/tracker_wire.h"
#include "tests/fuzz/fuzz.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    using namespace tenon::remote;
    const std::string bytes(fuzzText(data, size));
    TrackerStream stream;
    stream.append(bytes);
    while (stream.next()) {}
    TrackerState state({.stopKey = "stop"});
    std::set<TrackerState::Connection> open;
    TrackerState::Time now{0};
    for (size_t at = 0, end = 0; at < bytes.size(); at = end + 1) {
        end = std::min(bytes.find('\n', at), bytes.size());
        const auto from = static_cast<TrackerState::Connection>(bytes[at] & 7);
        now += TrackerState::Time(1000);
        if (open.insert(from).second) state.open(from, "10.0.0." + std::to_string(from), now);
        bool isGood = true;
        const std::string message = bytes.substr(at + 1, end - std::min(end, at + 1));
        for (const TrackerState::Reply& reply : state.handle(from, message, now, isGood)) {
            CHECK(open.contains(reply.to)) << reply.message;
            const nlohmann::json answer = nlohmann::json::parse(reply.message, nullptr, false);
            CHECK(!answer.is_discarded()) << reply.message;
        }
        const auto hangUp = [&](TrackerState::Connection who) {
            state.close(who);
            open.erase(who);
        };
        if (!isGood) hangUp(from);
        for (const TrackerState::Connection who : state.silentOnes(now)) hangUp(who);
    }
    return 0;
}
