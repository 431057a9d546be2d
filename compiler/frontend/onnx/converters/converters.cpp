// SPDX-License-Identifier: Apache-2.0
// The converter table from converters.def and the look-up by opset.
#include "compiler/frontend/onnx/converters/converters.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr Converter kConverters[] = {
#define CONVERTER(op, since, function) {op, since, function},
#include "compiler/frontend/onnx/converters/converters.def"
#undef CONVERTER
};

} // namespace

std::string_view declinedReason(std::string_view op)
{
    struct Declined
    {
        std::string_view op;
        std::string_view reason;
    };
    static constexpr Declined kDeclined[] = {
#define DECLINED(op, reason) {op, reason},
#include "compiler/frontend/onnx/converters/declined.def"
#undef DECLINED
    };
    for (const Declined& declined : kDeclined)
        if (declined.op == op) return declined.reason;
    return {};
}

std::span<const Converter> allConverters() { return kConverters; }

const Converter* findConverter(std::string_view op, int64_t opset, int* oldest)
{
    *oldest = 0;
    const std::span<const Converter> all = allConverters();
    auto row =
        std::lower_bound(all.begin(), all.end(), op,
                         [](const Converter& c, std::string_view name) { return c.op < name; });
    const Converter* found = nullptr;
    for (; row != all.end() && row->op == op; ++row) {
        if (*oldest == 0) *oldest = row->sinceVersion;
        if (row->sinceVersion <= opset) found = &*row;
    }
    return found;
}

} // namespace tenon::compiler
