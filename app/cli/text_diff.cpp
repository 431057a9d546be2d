// SPDX-License-Identifier: Apache-2.0
// Myers' greedy diff over lines ("An O(ND) Difference Algorithm and Its Variations", 1986): walk
// the furthest point of every diagonal for 0, 1, 2... edits, then trace the path back.
#include "app/cli/text_diff.h"

#include "core/base/text.h"

#include <algorithm>
#include <vector>

namespace tenon::cli {
namespace {

struct Line
{
    char mark;
    std::string text;
};

using Lines = std::vector<std::string>;

/// Beyond that many edits the texts count as different altogether.
constexpr int kMaxEdits = 4000;

std::vector<Line> editScript(const Lines& a, const Lines& b)
{
    const int n = static_cast<int>(a.size());
    const int m = static_cast<int>(b.size());
    const int limit = std::min(n + m, kMaxEdits);
    std::vector<int> reach(2 * static_cast<size_t>(limit) + 3, 0);
    std::vector<std::vector<int>> history;
    const auto at = [&](std::vector<int>& v, int k) -> int& {
        return v[static_cast<size_t>(k + limit + 1)];
    };
    int edits = -1;
    for (int d = 0; d <= limit && edits < 0; ++d) {
        history.push_back(reach);
        for (int k = -d; k <= d; k += 2) {
            const bool isDown = k == -d || (k != d && at(reach, k - 1) < at(reach, k + 1));
            int x = isDown ? at(reach, k + 1) : at(reach, k - 1) + 1;
            int y = x - k;
            while (x < n && y < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(y)])
                ++x, ++y;
            at(reach, k) = x;
            if (x >= n && y >= m) {
                edits = d;
                break;
            }
        }
    }
    std::vector<Line> script;
    if (edits < 0) {
        for (const std::string& line : a) script.push_back({'-', line});
        for (const std::string& line : b) script.push_back({'+', line});
        return script;
    }
    int x = n;
    int y = m;
    for (int d = edits; d > 0; --d) {
        std::vector<int>& v = history[static_cast<size_t>(d)];
        const int k = x - y;
        const bool isDown = k == -d || (k != d && at(v, k - 1) < at(v, k + 1));
        const int previousX = at(v, isDown ? k + 1 : k - 1);
        const int previousY = previousX - (isDown ? k + 1 : k - 1);
        while (x > previousX && y > previousY && x > 0 && y > 0 &&
               (isDown ? y > previousY + 1 : x > previousX + 1))
            --x, --y, script.push_back({' ', a[static_cast<size_t>(x)]});
        if (isDown)
            script.push_back({'+', b[static_cast<size_t>(--y)]});
        else
            script.push_back({'-', a[static_cast<size_t>(--x)]});
    }
    while (x > 0 && y > 0) --x, --y, script.push_back({' ', a[static_cast<size_t>(x)]});
    std::reverse(script.begin(), script.end());
    return script;
}

} // namespace

std::string textDiff(const std::string& before, const std::string& after)
{
    const std::vector<Line> script =
        editScript(core::split(before, '\n'), core::split(after, '\n'));
    constexpr size_t kContext = 3;
    std::vector<bool> isShown(script.size(), false);
    for (size_t i = 0; i < script.size(); ++i)
        if (script[i].mark != ' ')
            for (size_t k = i > kContext ? i - kContext : 0;
                 k < std::min(script.size(), i + kContext + 1); ++k)
                isShown[k] = true;
    std::string out;
    for (size_t i = 0; i < script.size(); ++i) {
        if (isShown[i])
            out += std::string(1, script[i].mark) + " " + script[i].text + "\n";
        else if (i == 0 || isShown[i - 1])
            out += "  ...\n";
    }
    return out;
}

} // namespace tenon::cli
