// SPDX-License-Identifier: Apache-2.0
// Builds the text of a failed CHECK: condition, place, and what the caller streamed.
#include "core/base/check.h"

#include <cstring>

namespace tenon::core {

CheckFailure::CheckFailure(const char* file, int line, const char* condition)
{
    const char* slash = std::strrchr(file, '/');
    m_text << "check failed: " << condition << " (" << (slash ? slash + 1 : file) << ":" << line
           << ") ";
}

CheckFailure::~CheckFailure() noexcept(false) { throw InternalError(m_text.str()); }

} // namespace tenon::core
