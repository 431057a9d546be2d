// SPDX-License-Identifier: Apache-2.0
// Silence: how long a peer has given no sign of life.
#pragma once

#include <chrono>
#include <cstdint>

namespace tenon::remote {

/// Tells when a peer has been silent for too long. What passed while nobody looked, because this
/// program was stopped or the machine slept, does not count.
class Silence
{
public:
    explicit Silence(std::chrono::milliseconds longest)
        : m_longest(longest)
    {
    }
    /// `sign` is anything that changes when the peer gives a sign of life. True when it did not for
    /// too long.
    bool persists(uint64_t sign);

private:
    std::chrono::milliseconds m_longest;
    std::chrono::steady_clock::time_point m_looked = std::chrono::steady_clock::now();
    std::chrono::steady_clock::duration m_length{0};
    uint64_t m_sign = ~uint64_t{0};
};

} // namespace tenon::remote
