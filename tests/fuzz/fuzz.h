// SPDX-License-Identifier: Apache-2.0
// The one function of a fuzz target: libFuzzer drives it, or replay.cpp in the ordinary build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Must accept any bytes. A crash, a hang or a failed CHECK is a finding.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

inline std::string_view fuzzText(const uint8_t* data, size_t size)
{
    return {reinterpret_cast<const char*>(data), size};
}
