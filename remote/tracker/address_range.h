// SPDX-License-Identifier: Apache-2.0
// AddressRange: IPv4 addresses with the same first bits.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>

namespace tenon::remote {

class AddressRange
{
public:
    /// "192.168.1.7", "192.168.1.0/24" or "any". Error BadArgument.
    static core::Result<AddressRange> parse(const std::string& text);
    /// Of a numeric address; false for whatever else.
    bool contains(const std::string& address) const;

private:
    uint32_t m_first = 0;
    uint32_t m_mask = 0;
};

} // namespace tenon::remote
