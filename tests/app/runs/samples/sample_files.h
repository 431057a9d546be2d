// SPDX-License-Identifier: Apache-2.0
// Writes pictures and sounds for tests.
#pragma once

#include "app/runs/samples/picture.h"

#include <string>
#include <vector>

namespace tenon::test {

/// Pixels that change with place and channel.
runs::Picture patternedPicture(int64_t width, int64_t height);
void writePng(const std::string& path, const runs::Picture& picture);
std::string jpegBytes(const runs::Picture& picture);
/// 16 bits, interleaved channels.
std::string wavBytes(uint32_t rate, uint16_t channels, const std::vector<int16_t>& samples);
void writeText(const std::string& path, const std::string& bytes);

} // namespace tenon::test
