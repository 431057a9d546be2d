// SPDX-License-Identifier: Apache-2.0
// How long a peer has given no sign of life.
#include "remote/rpc/silence.h"

#include <algorithm>

namespace tenon::remote {

bool Silence::persists(uint64_t sign)
{
    const auto now = std::chrono::steady_clock::now();
    const auto passed =
        std::min<std::chrono::steady_clock::duration>(now - m_looked, m_longest / 4);
    m_length = sign == m_sign ? m_length + passed : std::chrono::steady_clock::duration(0);
    m_looked = now;
    m_sign = sign;
    return m_length >= m_longest;
}

} // namespace tenon::remote
