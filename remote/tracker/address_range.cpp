// SPDX-License-Identifier: Apache-2.0
// IPv4 addresses with the same first bits.
#include "remote/tracker/address_range.h"

#include "core/base/text.h"

#include <arpa/inet.h>

#include <charconv>
#include <optional>

namespace tenon::remote {

namespace {

std::optional<uint32_t> number(const std::string& address)
{
    in_addr out{};
    if (inet_pton(AF_INET, address.c_str(), &out) != 1) return std::nullopt;
    return ntohl(out.s_addr);
}

} // namespace

core::Result<AddressRange> AddressRange::parse(const std::string& text)
{
    AddressRange range;
    if (text == "any") return range;
    const size_t slash = text.find('/');
    const std::optional<uint32_t> address = number(text.substr(0, slash));
    unsigned bits = 32;
    const char* end = text.data() + text.size();
    const bool hasGoodBits =
        slash == std::string::npos ||
        (std::from_chars(text.data() + slash + 1, end, bits).ptr == end && slash + 1 < text.size());
    if (!address || !hasGoodBits || bits > 32)
        return core::makeError(core::DiagnosticCode::BadArgument,
                               core::quoted(text) + " is no range of addresses; write 192.168.1.7, "
                                                    "192.168.1.0/24 or any");
    range.m_mask = bits == 0 ? 0 : ~uint32_t{0} << (32 - bits);
    range.m_first = *address & range.m_mask;
    return range;
}

bool AddressRange::contains(const std::string& address) const
{
    const std::optional<uint32_t> given = number(address);
    return given && (*given & m_mask) == m_first;
}

} // namespace tenon::remote
