// SPDX-License-Identifier: Apache-2.0
// A POSIX file descriptor with an owner.
#pragma once

#include <string_view>

namespace tenon::core {

/// Closes what it holds; a negative descriptor is none.
class Descriptor
{
public:
    explicit Descriptor(int fd);
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();

    int get() const { return m_fd; }

private:
    int m_fd;
};

/// Writes all of `content`; false, with errno set, when that failed.
bool writeAll(int fd, std::string_view content);

} // namespace tenon::core
