// SPDX-License-Identifier: Apache-2.0
// Starts and ends of buffers, sorted by point; starts first.
#include "compiler/memory/lifetime_events.h"

#include <algorithm>

namespace tenon::compiler {

std::vector<LifetimeEvent> lifetimeEvents(const std::vector<BufferInfo>& buffers)
{
    std::vector<LifetimeEvent> events;
    for (size_t i = 0; i < buffers.size(); ++i) {
        events.push_back({buffers[i].first, false, static_cast<int>(i)});
        events.push_back({buffers[i].last, true, static_cast<int>(i)});
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const LifetimeEvent& a, const LifetimeEvent& b) {
                         return a.point != b.point ? a.point < b.point : a.isEnd < b.isEnd;
                     });
    return events;
}

} // namespace tenon::compiler
