// SPDX-License-Identifier: Apache-2.0
// stream: a parameter that is read from end to end and does not stay in the cache.
#include "compiler/schedule/tree.h"
#include "core/base/text.h"

namespace tenon::compiler {

Status Primitives::stream(std::string buffer, int64_t bytes)
{
    constexpr const char* kName = "stream";
    const tir::Buffer found = bufferNamed(m_function, buffer);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of buffer " + quoted(buffer) + ": " + why);
    };
    if (!found) return refuse("it does not exist");
    if (!isParameter(m_function, found)) return refuse("it is no parameter");
    if (bytes < 0) return refuse("the bytes are negative");
    if (m_function.attrs.has("stream")) return refuse("another buffer is streamed already");
    m_function.attrs.set("stream", buffer);
    m_function.attrs.set("stream_bytes", bytes);
    record(kName, {std::move(buffer)}, {{"bytes", bytes}});
    return kDone;
}

} // namespace tenon::compiler
