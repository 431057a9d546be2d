// SPDX-License-Identifier: Apache-2.0
// Closing, and writing all of a text.
#include "core/base/descriptor.h"

#include <unistd.h>

#include <cerrno>

namespace tenon::core {

Descriptor::Descriptor(int fd)
    : m_fd(fd)
{
}

Descriptor::~Descriptor()
{
    if (m_fd >= 0) ::close(m_fd);
}

bool writeAll(int fd, std::string_view content)
{
    while (!content.empty()) {
        const ssize_t n = ::write(fd, content.data(), content.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        content.remove_prefix(static_cast<size_t>(n));
    }
    return true;
}

} // namespace tenon::core
