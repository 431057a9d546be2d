// SPDX-License-Identifier: Apache-2.0
// Words of methods, both ways.
#include "core/artifact/call_method.h"

#include <array>
#include <charconv>
#include <utility>

namespace tenon::core {
namespace {

constexpr std::array<std::pair<Method, std::string_view>, 12> kWords{{
    {Method::Attention, "fused attention"},
    {Method::Depthwise, "depthwise"},
    {Method::Direct1x1, "direct 1x1"},
    {Method::Rows, "direct on rows"},
    {Method::Direct, "direct"},
    {Method::Gemm, "GEMM"},
    {Method::LinearAttention, "linear attention"},
    {Method::Moves, "moves data"},
    {Method::PackedGemm, "packed GEMM"},
    {Method::PlainLoops, "plain loops"},
    {Method::Strassen, "Strassen 1x1"},
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

/// "4x4"
bool takePair(std::string_view& text, std::array<int, 2>& pair)
{
    const auto takeNumber = [&](int& number) {
        const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
        return read.ec == std::errc();
    };
    return takeNumber(pair[0]) && take(text, "x") && takeNumber(pair[1]);
}

/// " F(4x4,3x3)"
void takeTile(std::string_view& text, CallMethod& method)
{
    std::string_view rest = text;
    CallMethod out = method;
    if (!take(rest, " F(") || !takePair(rest, out.tile) || !take(rest, ",") ||
        !takePair(rest, out.window) || !take(rest, ")"))
        return;
    text = rest;
    method = out;
}

std::string pairText(const std::array<int, 2>& pair)
{
    return std::to_string(pair[0]) + "x" + std::to_string(pair[1]);
}

} // namespace

std::string methodText(const CallMethod& method, std::string_view refusal)
{
    std::string text;
    for (const auto& [kind, words] : kWords)
        if (kind == method.kind) text = words;
    if (method.kind == Method::Winograd)
        text += " F(" + pairText(method.tile) + "," + pairText(method.window) + ")";
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
        if (kind == Method::Winograd) takeTile(rest, method);
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
