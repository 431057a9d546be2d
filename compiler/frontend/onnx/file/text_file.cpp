// SPDX-License-Identifier: Apache-2.0
// Text is told by its bytes: no control characters but white space.
#include "compiler/frontend/onnx/file/text_file.h"

#include "core/base/text.h"

#include <algorithm>
#include <string_view>

namespace tenon::compiler {
namespace {

constexpr std::string_view kLfs = "version https://git-lfs.";

bool isTextByte(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\r' || c == '\t';
}

} // namespace

std::string textFileMessage(std::span<const std::byte> file)
{
    constexpr size_t kLooked = 256, kShown = 40;
    const std::string_view start(reinterpret_cast<const char*>(file.data()),
                                 std::min(file.size(), kLooked));
    if (start.empty() || !std::all_of(start.begin(), start.end(), isTextByte)) return {};
    if (start.starts_with(kLfs))
        return "the file is Git LFS's pointer to a model and no ONNX model itself; `git lfs pull` "
               "fetches it";
    const std::string_view line = start.substr(0, start.find_first_of("\r\n"));
    // In whole characters: bytes that continue one begin with the bits 10.
    size_t end = std::min(line.size(), kShown);
    while (end > 0 && end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80)
        --end;
    return "the file is text and no ONNX model; it begins with " +
           core::quoted(std::string(line.substr(0, end)));
}

} // namespace tenon::compiler
