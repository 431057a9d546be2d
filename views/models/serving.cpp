// SPDX-License-Identifier: GPL-3.0-or-later
// By identity, else by the nodes of the model file that both come from.
#include "views/models/serving.h"

#include <algorithm>

namespace tenon::views {

int callForNode(const Document& document, const core::NodeRecord& node)
{
    const int own = document.callOfNode(node.id);
    if (own >= 0) return own;
    for (size_t c = 0; c < document.calls.size(); ++c)
        for (const core::SourceId source : node.origin) {
            const auto& sources = document.calls[c].sources;
            if (std::find(sources.begin(), sources.end(), source) != sources.end())
                return static_cast<int>(c);
        }
    return -1;
}

int callServing(const Document& document, core::NodeId node)
{
    if (!node.isValid()) return -1;
    for (size_t v = document.versionCount(); v-- > 0;)
        if (const core::NodePtr& record = document.version(v).findNode(node))
            return callForNode(document, *record);
    return -1;
}

} // namespace tenon::views
