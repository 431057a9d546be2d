// SPDX-License-Identifier: Apache-2.0
// One table for both lists.
#include "app/cli/pool_options.h"

#include <CLI/CLI.hpp>

namespace tenon::cli {
namespace {

/// An option of both lists of pools, in tvmc's spelling.
struct PoolOption
{
    const char* workspace;
    const char* constant;
    std::string compiler::PoolOptions::*field;
    const char* help;
};

using compiler::PoolOptions;

constexpr const char* kPoolsHelp =
    "memories of C source in order of preference: DTCM=128KiB,SRAM; `@.section` behind one makes "
    "it a static array there, others the caller gives";

constexpr PoolOption kPoolOptions[] = {
    {"--workspace-pools", "--constant-pools", &PoolOptions::names, kPoolsHelp},
    {"--workspace-pools-targets", "--constant-pools-targets", &PoolOptions::targets,
     "NAME:TARGET, which is the model's"},
    {"--workspace-pools-size-hint-bytes", "--constant-pools-size-hint-bytes",
     &PoolOptions::sizeHints, "NAME:BYTES that there are"},
    {"--workspace-pools-section", "--constant-pools-section", &PoolOptions::sections,
     "NAME:SECTION of the static array that it becomes"},
    {"--workspace-pools-clock-frequency-hz", "--constant-pools-clock-frequency-hz",
     &PoolOptions::clocksHz, "NAME:HZ, noted in Model Library Format archives"},
    {"--workspace-pools-read-bandwidth-bytes-per-cycle",
     "--constant-pools-read-bandwidth-bytes-per-cycle", &PoolOptions::readBandwidths,
     "NAME:BYTES, noted there, too"},
    {"--workspace-pools-write-bandwidth-bytes-per-cycle",
     "--constant-pools-write-bandwidth-bytes-per-cycle", &PoolOptions::writeBandwidths,
     "NAME:BYTES, noted there, too"},
    {"--workspace-pools-read-latency-cycles", "--constant-pools-read-latency-cycles",
     &PoolOptions::readLatencies, "NAME:CYCLES, noted there, too"},
    {"--workspace-pools-write-latency-cycles", "--constant-pools-write-latency-cycles",
     &PoolOptions::writeLatencies, "NAME:CYCLES, noted there, too"}};

} // namespace

void addPoolOptions(CLI::App& command, compiler::PoolLists& lists)
{
    for (const PoolOption& option : kPoolOptions)
        command.add_option(option.workspace, lists.workspace.*option.field, option.help);
    for (const PoolOption& option : kPoolOptions)
        command.add_option(option.constant, lists.constants.*option.field, option.help);
}

} // namespace tenon::cli
