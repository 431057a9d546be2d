// SPDX-License-Identifier: Apache-2.0
// Reads, runs and rewrites golden case files.
#include "tests/support/golden.h"

#include "core/base/check.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace tenon::test {
namespace {

/// Joins lines [begin, end) without leading and trailing blank ones.
std::string block(const std::vector<std::string>& lines, size_t begin, size_t end)
{
    while (begin < end && core::trimmed(lines[begin]).empty()) ++begin;
    while (end > begin && core::trimmed(lines[end - 1]).empty()) --end;
    std::string out;
    for (size_t i = begin; i < end; ++i) out += lines[i] + "\n";
    return out;
}

/// Inside an expectation a title opens the next case only after a blank line.
bool opensCase(const std::vector<std::string>& lines, size_t at)
{
    if (!lines[at].starts_with("# ")) return false;
    return core::trimmed(lines[at - 1]).empty();
}

/// Lines that differ, side by side in time: "-" wanted, "+" got, from the first to the last change.
std::string difference(const std::string& wanted, const std::string& got)
{
    std::vector<std::string> a = core::split(wanted, '\n');
    std::vector<std::string> b = core::split(got, '\n');
    size_t head = 0;
    while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
    size_t tail = 0;
    while (tail + head < a.size() && tail + head < b.size() &&
           a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
        ++tail;
    std::string out;
    for (size_t i = head; i + tail < a.size(); ++i) out += "  - " + a[i] + "\n";
    for (size_t i = head; i + tail < b.size(); ++i) out += "  + " + b[i] + "\n";
    return out;
}

} // namespace

GoldenFile parseGolden(const std::string& text)
{
    const std::vector<std::string> lines = core::split(text, '\n');
    GoldenFile file;
    size_t at = 0;
    if (lines[0].starts_with("# SPDX"))
        while (at < lines.size() && lines[at].starts_with("#")) file.header += lines[at++] + "\n";
    while (at < lines.size() && !lines[at].starts_with("# ")) ++at;

    while (at < lines.size()) {
        GoldenCase one;
        one.title = lines[at].substr(2);
        one.line = at + 1;
        const size_t inputBegin = ++at;
        while (at < lines.size() && lines[at] != "---") ++at;
        one.input = block(lines, inputBegin, at);
        const size_t expectedBegin = at < lines.size() ? ++at : at;
        while (at < lines.size() && !(at > expectedBegin && opensCase(lines, at))) ++at;
        one.expected = block(lines, expectedBegin, at);
        file.cases.push_back(std::move(one));
    }
    return file;
}

std::string goldenText(const GoldenFile& file)
{
    std::string out = file.header;
    for (const GoldenCase& one : file.cases) {
        if (!out.empty()) out += "\n";
        out += "# " + one.title + "\n" + one.input + "---\n" + one.expected;
    }
    return out;
}

std::vector<std::string> goldenFilesIn(const std::string& folder)
{
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(sourcePath(folder)))
        if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt")
            names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    CHECK(!names.empty()) << folder;
    return names;
}

void expectGolden(const std::string& path, const GoldenRun& run, const GoldenEqual& equal)
{
    const std::string full = sourcePath(path);
    const auto text = core::readFile(full);
    ASSERT_TRUE(text) << text.error().text();
    GoldenFile file = parseGolden(*text);
    ASSERT_FALSE(file.cases.empty()) << path << " has no case";

    bool differs = false;
    for (GoldenCase& one : file.cases) {
        std::string got = run(one);
        if (!got.empty() && !got.ends_with("\n")) got += "\n";
        if (equal ? equal(got, one.expected) : got == one.expected) continue;
        differs = true;
        if (shouldUpdateExpected()) {
            one.expected = got;
            continue;
        }
        ADD_FAILURE_AT(full.c_str(), static_cast<int>(one.line))
            << one.title << "\ninput:\n"
            << one.input << "got:\n"
            << got << "wanted:\n"
            << one.expected << "difference (- wanted, + got):\n"
            << difference(one.expected, got) << "UPDATE_EXPECTED=1 rewrites the expectation";
    }
    if (!differs || !shouldUpdateExpected()) return;
    const auto written = core::writeFileAtomically(full, goldenText(file));
    EXPECT_TRUE(written) << written.error().text();
}

} // namespace tenon::test
