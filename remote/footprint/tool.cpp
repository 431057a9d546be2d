// SPDX-License-Identifier: Apache-2.0
// Running tools and reading binutils' tables.
#include "remote/footprint/tool.h"

#include "core/base/text.h"
#include "remote/ssh/shell_word.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;

namespace {

std::string firstLines(const std::string& text)
{
    std::vector<std::string> lines = core::split(core::trimmed(text), '\n');
    if (lines.size() > 3) lines.resize(3);
    return core::join(lines, "; ");
}

} // namespace

bool hasTool(const std::string& name)
{
    const char* path = std::getenv("PATH");
    for (const std::string& folder : core::split(path ? path : "/usr/bin:/bin", ':'))
        if (!folder.empty() && access((folder + "/" + name).c_str(), X_OK) == 0) return true;
    return false;
}

Result<std::string> runTool(const std::vector<std::string>& words)
{
    std::string command;
    for (const std::string& word : words) command += shellQuoted(word) + " ";
    FILE* pipe = ::popen((command + "2>&1 </dev/null").c_str(), "r");
    if (!pipe) return makeError(DiagnosticCode::BoardFailure, "cannot run " + words.front());
    std::string output;
    std::array<char, 4096> block;
    for (size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
        output.append(block.data(), n);
    const int status = ::pclose(pipe);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
    return makeError(DiagnosticCode::BoardFailure,
                     core::quoted(words.front()) + " failed: " + firstLines(output));
}

Result<std::map<std::string, int64_t>> symbolBytes(const std::string& nm, const std::string& image)
{
    const Result<std::string> table = runTool({nm, "-S", image});
    if (!table) return table.error();
    std::map<std::string, int64_t> bytes;
    std::istringstream lines(*table);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string address, size, kind, name;
        if (fields >> address >> size >> kind >> name)
            bytes[name] = static_cast<int64_t>(std::strtoull(size.c_str(), nullptr, 16));
    }
    return bytes;
}

Result<std::map<std::string, int64_t>> sectionBytes(const std::string& size,
                                                    const std::string& image)
{
    const Result<std::string> table = runTool({size, "-A", image});
    if (!table) return table.error();
    std::map<std::string, int64_t> bytes;
    std::istringstream lines(*table);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string name;
        int64_t value = 0;
        if (line.starts_with('.') && fields >> name >> value) bytes[name] = value;
    }
    return bytes;
}

} // namespace tenon::remote
