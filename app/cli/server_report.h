// SPDX-License-Identifier: Apache-2.0
// What a board's on-device server measured, for people and for programs.
#pragma once

#include "app/cli/command.h"
#include "core/artifact/manifest.h"
#include "remote/micro/micro_model.h"

#include <optional>

namespace tenon::cli {

/// Of one session with a board.
struct ServerMeasurement
{
    std::vector<double> runSeconds;     ///< on the board's clock; empty: not timed
    std::vector<uint64_t> callNs;       ///< of one run; empty: the executor notes none
    remote::MicroStatistics statistics; ///< since the board started
    remote::MicroLineCounters line;
    int restarts = 0;
    int instructionNs = 0; ///< of an emulated board whose clock counts instructions; else 0
};

/// Times `number` inferences where it is above 0, and asks for the statistics.
Result<ServerMeasurement> measureServer(remote::MicroModel& model, int number);

std::string serverText(const Manifest& manifest, const ServerMeasurement& measured);
Json serverJson(const Manifest& manifest, const ServerMeasurement& measured);

} // namespace tenon::cli
