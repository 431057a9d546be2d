// SPDX-License-Identifier: Apache-2.0
// The runtime's own SHA-256, which uses the processor's instructions for it.
#include "remote/session/file_digest.h"

#include "core/base/file.h"
#include "runtime/rpc/sha256.h"

namespace tenon::remote {

std::string sha256Of(std::span<const std::byte> bytes)
{
    char hex[TENON_SHA256_HEX];
    tenon_sha256_hex(bytes.data(), bytes.size(), hex);
    return hex;
}

core::Result<std::string> fileSha256(const std::string& path)
{
    const auto file = core::MappedFile::open(path);
    if (!file) return file.error();
    return sha256Of((*file)->bytes());
}

} // namespace tenon::remote
