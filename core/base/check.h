// SPDX-License-Identifier: Apache-2.0
// CHECK: a broken invariant is our bug; it throws InternalError, caught once at the job boundary.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace tenon::core {

/// Our own bug, never the user's fault; shown as "internal error, please report".
class InternalError : public std::logic_error
{
public:
    using std::logic_error::logic_error;
};

/// Collects the optional text streamed after CHECK(...) and throws at the end of the statement.
class CheckFailure
{
public:
    CheckFailure(const char* file, int line, const char* condition);
    CheckFailure(const CheckFailure&) = delete;
    CheckFailure& operator=(const CheckFailure&) = delete;
    [[noreturn]] ~CheckFailure() noexcept(false);

    template <class T>
    CheckFailure& operator<<(const T& value)
    {
        m_text << value;
        return *this;
    }

private:
    std::ostringstream m_text;
};

} // namespace tenon::core

#define CHECK(condition)                                                                           \
    if (condition) [[likely]] {                                                                    \
    } else                                                                                         \
        ::tenon::core::CheckFailure(__FILE__, __LINE__, #condition)
