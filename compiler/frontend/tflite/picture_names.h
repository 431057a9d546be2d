// SPDX-License-Identifier: Apache-2.0
// What a picture of a .tflite file, which has its channels last, is called with its channels first.
#pragma once

#include <string>
#include <string_view>

namespace tenon::compiler {

constexpr std::string_view kChannelsFirst = "/planes";

inline std::string channelsFirstName(const std::string& name)
{
    return name + std::string(kChannelsFirst);
}

} // namespace tenon::compiler
