// SPDX-License-Identifier: Apache-2.0
// BoardProfile: what is known of a kind of board before anyone has touched one.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::remote {

/// How to stand one in by emulation; empty fields: not possible.
struct Emulation
{
    std::string program;      ///< "qemu-aarch64-static"
    std::string architecture; ///< Debian's name: "arm64"
    std::string cpu;          ///< QEMU's name of the processor
    std::string release;      ///< what `uname -r` says
    std::string cpuinfo;      ///< one processor's lines of /proc/cpuinfo
    std::string cpuinfoTail;  ///< its last lines: hardware and model
    std::string machine;      ///< QEMU's name of a board without an operating system
};

struct BoardProfile
{
    std::string name;  ///< "rpi4"
    std::string title; ///< "Raspberry Pi 4 Model B"
    std::string target;
    std::string system; ///< "linux" or "bare-metal"
    unsigned cores = 1;
    int64_t ramBytes = 0;
    int64_t flashBytes = 0; ///< 0: storage is no budget on this board
    Emulation emulation;
};

/// All profiles of resources/boards, by name. Errors: IoFailure, BadText with file and key.
core::Result<std::vector<BoardProfile>> boardProfiles();
/// Error UnknownName with the nearest names.
core::Result<BoardProfile> findProfile(const std::string& name);

} // namespace tenon::remote
