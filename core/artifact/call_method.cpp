// SPDX-License-Identifier: Apache-2.0
// Words of methods, both ways.
#include "core/artifact/call_method.h"

#include <array>
#include <charconv>
#include <utility>

namespace tenon::core {
namespace {

constexpr std::array<std::pair<Method, std::string_view>, 10> kWords{{
    {Method::Attention, "fused attention"},
    {Method::Depthwise, "depthwise"},
    {Method::Direct1x1, "direct 1x1"},
    {Method::Direct, "direct"},
    {Method::Gemm, "GEMM"},
    {Method::LinearAttention, "linear attention"},
    {Method::Moves, "moves data"},
    {Method::PackedGemm, "packed GEMM"},
    {Method::PlainLoops, "plain loops"},
    {Method::Winograd, "Winograd"},
}};

constexpr std::string_view kRefused = "plain loops because of ";
constexpr std::string_view kInt8 = " int8";

/// Without the words that were taken.
bool take(std::string_view& text, std::string_view words)
{
    if (!text.starts_with(words)) return false;
    text.remove_prefix(words.size());
    return true;
}

/// " F(4x4,3x3)"
int takeTile(std::string_view& text)
{
    std::string_view rest = text;
    int tile = 0;
    if (!take(rest, " F(")) return 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), tile);
    rest.remove_prefix(static_cast<size_t>(read.ptr - rest.data()));
    if (read.ec != std::errc() || !take(rest, "x" + std::to_string(tile) + ",3x3)")) return 0;
    text = rest;
    return tile;
}

} // namespace

std::string methodText(const CallMethod& method, std::string_view refusal)
{
    std::string text;
    for (const auto& [kind, words] : kWords)
        if (kind == method.kind) text = words;
    const std::string m = std::to_string(method.tile);
    if (method.kind == Method::Winograd) text += " F(" + m + "x" + m + ",3x3)";
    if (method.isInt8) text += kInt8;
    if (refusal.empty()) return text;
    return text + (text.empty() ? "" : ", ") + std::string(kRefused) + std::string(refusal);
}

CallMethod methodRun(const CallMethod& method, std::string_view refusal)
{
    return method.kind == Method::None && !refusal.empty() ? CallMethod{Method::PlainLoops}
                                                           : method;
}

CallMethod parseMethod(std::string_view text, std::string& refusal)
{
    CallMethod method;
    std::string_view rest = text;
    for (const auto& [kind, words] : kWords) {
        if (rest.starts_with(kRefused) || !take(rest, words)) continue;
        method.kind = kind;
        if (kind == Method::Winograd) method.tile = takeTile(rest);
        method.isInt8 = take(rest, kInt8);
        take(rest, ", ");
        break;
    }
    if (!rest.empty() && !take(rest, kRefused)) { // words of another version
        refusal.clear();
        return {};
    }
    refusal = rest;
    return method;
}

} // namespace tenon::core
