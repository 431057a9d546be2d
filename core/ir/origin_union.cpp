// SPDX-License-Identifier: Apache-2.0
// Sorting the collected sources once.
#include "core/ir/origin_union.h"

#include <algorithm>
#include <utility>

namespace tenon::core {

std::vector<SourceId> OriginUnion::take()
{
    std::sort(m_all.begin(), m_all.end());
    m_all.erase(std::unique(m_all.begin(), m_all.end()), m_all.end());
    m_all.shrink_to_fit(); // it stays in a record
    return std::exchange(m_all, {});
}

} // namespace tenon::core
