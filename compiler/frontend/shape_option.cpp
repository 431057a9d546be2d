// SPDX-License-Identifier: Apache-2.0
// Numbers bind, ranges bound.
#include "compiler/frontend/shape_option.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {

Status readShapeOption(const std::string& entry, ImportOptions& options)
{
    const auto bad = [&] {
        return makeError(DiagnosticCode::BadArgument,
                         quoted(entry) + " is no binding; write NAME=1,3,224,224 or DIM=8, or "
                                         "DIM=1..8 for a size that stays dynamic");
    };
    const size_t equals = entry.rfind('=');
    if (equals == std::string::npos || equals == 0) return bad();
    std::vector<DimBounds> bounds;
    for (const std::string& part : split(std::string_view(entry).substr(equals + 1), ',')) {
        const auto one = parseBounds(trimmed(part));
        if (!one) return bad();
        bounds.push_back(*one);
    }
    const std::string name = entry.substr(0, equals);
    if (std::any_of(bounds.begin(), bounds.end(), [](const DimBounds& b) { return !b.isOne(); })) {
        options.bounds[name] = std::move(bounds);
        return kDone;
    }
    std::vector<int64_t>& shape = options.shapes[name];
    shape.clear();
    for (const DimBounds& one : bounds) shape.push_back(one.low);
    return kDone;
}

} // namespace tenon::compiler
