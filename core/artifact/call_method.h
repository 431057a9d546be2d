// SPDX-License-Identifier: Apache-2.0
// CallMethod: how a kernel call does its heaviest operator. Words are for files and people.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::core {

enum class Method : uint8_t
{
    None, ///< there is one way only
    Attention,
    Depthwise,
    Direct,
    Direct1x1, ///< of kernels of 1 x 1
    Gemm,
    LinearAttention,
    Moves, ///< computes nothing: values only go elsewhere
    PackedGemm,
    PlainLoops, ///< no rule has shaped
    Rows,       ///< direct, with vectors along rows of the image, not along blocks of channels
    Strassen,   ///< of kernels of 1 x 1
    Winograd
};

struct CallMethod
{
    Method kind = Method::None;
    bool isInt8 = false;
    std::array<int, 2> tile{};   ///< of Winograd's F(2 x 2, 3 x 3): outputs of a tile
    std::array<int, 2> window{}; ///< and elements of the filter

    friend bool operator==(const CallMethod&, const CallMethod&) = default;
};

/// "Winograd F(4x4,3x3)", "direct 1x1 int8"; "" for None. `refusal`: why a rule could not be
/// applied, so that the call runs plain loops; "" where it was.
std::string methodText(const CallMethod& method, std::string_view refusal = {});
/// Plain loops where a rule refused a call that has no method of its own.
CallMethod methodRun(const CallMethod& method, std::string_view refusal);
/// What methodText() wrote; other words are of no method.
CallMethod parseMethod(std::string_view text, std::string& refusal);

} // namespace tenon::core
