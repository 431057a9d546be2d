// SPDX-License-Identifier: Apache-2.0
// The sources of many nodes as one set.
#pragma once

#include "core/ir/node.h"

#include <vector>

namespace tenon::core {

/// Collected first and sorted once: joining sets one by one takes the square of their number.
class OriginUnion
{
public:
    void add(const std::vector<SourceId>& origin)
    {
        m_all.insert(m_all.end(), origin.begin(), origin.end());
    }
    std::vector<SourceId> take();

private:
    std::vector<SourceId> m_all;
};

} // namespace tenon::core
