// SPDX-License-Identifier: Apache-2.0
// From bauds to termios' codes.
#include "remote/micro/serial_speed.h"

#include "core/base/text.h"

namespace tenon::remote {
namespace {

struct Speed
{
    int baud;
    speed_t code;
};

constexpr Speed kSpeeds[] = {{9600, B9600},      {19200, B19200},   {38400, B38400},
                             {57600, B57600},    {115200, B115200}, {230400, B230400},
                             {460800, B460800},  {921600, B921600}, {1000000, B1000000},
                             {2000000, B2000000}};

} // namespace

core::Result<speed_t> serialSpeed(int baud)
{
    std::vector<std::string> known;
    for (const Speed& speed : kSpeeds) {
        if (speed.baud == baud) return speed.code;
        known.push_back(std::to_string(speed.baud));
    }
    return core::makeError(core::DiagnosticCode::BadArgument,
                           "serial lines have no speed of " + std::to_string(baud) +
                               " baud; there are " + core::join(known, ", "));
}

core::Status checkSerialSpeed(int baud)
{
    const auto speed = serialSpeed(baud);
    return speed ? core::Status(core::kDone) : core::Status(speed.error());
}

} // namespace tenon::remote
