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

/// Furthest point of `a` reached on each diagonal, which counts how much further that is than in b.
class Reach
{
public:
    explicit Reach(int limit)
        : m_offset(limit + 1)
        , m_furthest(2 * static_cast<size_t>(limit) + 3, 0)
    {
    }
    int& at(int diagonal) { return m_furthest[static_cast<size_t>(diagonal + m_offset)]; }
    /// The last of `edits` on the diagonal is a line of b rather than one of `a` left out.
    bool isInsertion(int diagonal, int edits)
    {
        return diagonal == -edits || (diagonal != edits && at(diagonal - 1) < at(diagonal + 1));
    }

private:
    int m_offset;
    std::vector<int> m_furthest;
};

/// What is reached before 0, 1, 2... edits up to the number that leads from `a` to b; nothing when
/// that is too large.
std::vector<Reach> searchEdits(const Lines& a, const Lines& b)
{
    const int n = static_cast<int>(a.size());
    const int m = static_cast<int>(b.size());
    const int limit = std::min(n + m, kMaxEdits);
    Reach reach(limit);
    std::vector<Reach> history;
    for (int edits = 0; edits <= limit; ++edits) {
        history.push_back(reach);
        for (int k = -edits; k <= edits; k += 2) {
            int x = reach.isInsertion(k, edits) ? reach.at(k + 1) : reach.at(k - 1) + 1;
            int y = x - k;
            while (x < n && y < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(y)])
                ++x, ++y;
            reach.at(k) = x;
            if (x >= n && y >= m) return history;
        }
    }
    return {};
}

std::vector<Line> editScript(const Lines& a, const Lines& b)
{
    std::vector<Reach> history = searchEdits(a, b);
    std::vector<Line> script;
    if (history.empty()) {
        for (const std::string& line : a) script.push_back({'-', line});
        for (const std::string& line : b) script.push_back({'+', line});
        return script;
    }
    int x = static_cast<int>(a.size());
    int y = static_cast<int>(b.size());
    for (int edits = static_cast<int>(history.size()) - 1; edits > 0; --edits) {
        Reach& reach = history[static_cast<size_t>(edits)];
        const int k = x - y;
        const bool isInsertion = reach.isInsertion(k, edits);
        const int previousX = reach.at(isInsertion ? k + 1 : k - 1);
        const int previousY = previousX - (isInsertion ? k + 1 : k - 1);
        while (x > previousX && y > previousY && x > 0 && y > 0 &&
               (isInsertion ? y > previousY + 1 : x > previousX + 1))
            --x, --y, script.push_back({' ', a[static_cast<size_t>(x)]});
        if (isInsertion)
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
