// SPDX-License-Identifier: Apache-2.0
// stream, stream_rows and stream_result: a parameter that is read from end to end, an image that is
// read row by row, or a result that is written tile by tile, and does not stay in the cache.
#include "compiler/schedule/tree.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

/// Marks a parameter for a lowering step, which takes one.
Status markParameter(tir::PrimFunc& function, const char* primitive, const std::string& buffer)
{
    const tir::Buffer found = bufferNamed(function, buffer);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(primitive, "of buffer " + quoted(buffer) + ": " + why);
    };
    if (!found) return refuse("it does not exist");
    if (!isParameter(function, found)) return refuse("it is no parameter");
    if (function.attrs.has(primitive)) return refuse("another buffer is streamed already");
    function.attrs.set(primitive, buffer);
    return kDone;
}

} // namespace

Status Primitives::stream(std::string buffer, int64_t bytes)
{
    constexpr const char* kName = "stream";
    if (bytes < 0)
        return badSchedule(kName, "of buffer " + quoted(buffer) + ": the bytes are negative");
    if (Status marked = markParameter(m_function, kName, buffer); !marked) return marked;
    m_function.attrs.set("stream_bytes", bytes);
    record(kName, {std::move(buffer)}, {{"bytes", bytes}});
    return kDone;
}

Status Primitives::streamRows(std::string buffer)
{
    constexpr const char* kName = "stream_rows";
    if (Status marked = markParameter(m_function, kName, buffer); !marked) return marked;
    record(kName, {std::move(buffer)});
    return kDone;
}

Status Primitives::streamResult(std::string buffer)
{
    constexpr const char* kName = "stream_result";
    if (Status marked = markParameter(m_function, kName, buffer); !marked) return marked;
    record(kName, {std::move(buffer)});
    return kDone;
}

} // namespace tenon::compiler
