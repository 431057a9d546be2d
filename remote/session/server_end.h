// SPDX-License-Identifier: Apache-2.0
// The server at the other end of a session, as far as its fate can be known from here.
#pragma once

#include "core/base/diagnostic.h"

#include <chrono>
#include <optional>
#include <string>

namespace tenon::remote {

class ServerEnd
{
public:
    virtual ~ServerEnd() = default;
    /// Waits for the end of the process that held the session; the signal it died of, 0 when it
    /// ended by itself, still runs or nobody can tell.
    virtual int signalOfDeath(std::chrono::milliseconds patience) = 0;
    /// The end of what it wrote to its error output, where that is kept.
    virtual std::string lastWords() { return {}; }
    /// Set when it is the way to the server that broke, not the server.
    virtual std::optional<core::Diagnostic> lostLink() = 0;
};

} // namespace tenon::remote
