// SPDX-License-Identifier: Apache-2.0
// Golden text cases: `# title` line, input, `---`, expected; UPDATE_EXPECTED=1 rewrites
// expectations.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tenon::test {

/// One case of a golden file. A case ends at a blank line followed by the next `# title`.
struct GoldenCase
{
    std::string title;    ///< one sentence starting with a verb
    std::string input;    ///< ends in a newline unless empty
    std::string expected; ///< ends in a newline unless empty
    size_t line = 0;      ///< 1-based line of the title
};

struct GoldenFile
{
    std::string header; ///< leading SPDX comment block, kept as it is
    std::vector<GoldenCase> cases;
};

GoldenFile parseGolden(const std::string& text);
std::string goldenText(const GoldenFile& file);

/// Result of one case: the text that was got.
using GoldenRun = std::function<std::string(const GoldenCase&)>;
/// True when `got` is as good as `wanted`; the default compares text, passes compare structure.
using GoldenEqual = std::function<bool(const std::string& got, const std::string& wanted)>;

/// The golden files of a folder (relative to the source tree) by name, without their ending; a test
/// that runs them all needs no list. There is at least one.
std::vector<std::string> goldenFilesIn(const std::string& folder);

/// Runs all cases of `path` (relative to the source tree) as GoogleTest expectations; a failure
/// prints input, got and wanted. With UPDATE_EXPECTED=1 rewrites what differs instead.
void expectGolden(const std::string& path, const GoldenRun& run, const GoldenEqual& equal = {});

} // namespace tenon::test
