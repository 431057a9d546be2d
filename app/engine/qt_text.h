// SPDX-License-Identifier: GPL-3.0-or-later
// Text of the compiler's side as the window's.
#pragma once

#include <QString>

#include <string_view>

namespace tenon::app {

/// UTF-8 in, which is what models and boards say.
inline QString text(std::string_view value)
{
    return QString::fromUtf8(value.data(), static_cast<qsizetype>(value.size()));
}

} // namespace tenon::app
