// SPDX-License-Identifier: Apache-2.0
// SHA-256 of files: what says that two places run the same artifact.
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <span>
#include <string>

namespace tenon::remote {

/// 64 hexadecimal digits.
std::string sha256Of(std::span<const std::byte> bytes);
/// Errors: IoFailure.
core::Result<std::string> fileSha256(const std::string& path);

} // namespace tenon::remote
