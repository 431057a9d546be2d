// SPDX-License-Identifier: Apache-2.0
// Bounds as the text of an attribute.
#include "core/ir/size_bounds.h"

namespace tenon::core {

SizeBounds boundsOf(const GraphFunction& function)
{
    SizeBounds out;
    for (const std::string& entry : function.attrs.strings(kBoundsAttr, {})) {
        const size_t equals = entry.rfind('=');
        if (equals == std::string::npos) continue;
        if (const auto bounds = parseBounds(std::string_view(entry).substr(equals + 1)))
            out[entry.substr(0, equals)] = *bounds;
    }
    return out;
}

void setBounds(GraphFunction& function, const SizeBounds& bounds)
{
    std::vector<std::string> entries;
    for (const auto& [symbol, range] : bounds) entries.push_back(symbol + "=" + boundsText(range));
    if (entries.empty())
        function.attrs.erase(kBoundsAttr);
    else
        function.attrs.set(kBoundsAttr, entries);
}

} // namespace tenon::core
