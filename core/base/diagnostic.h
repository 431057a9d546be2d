// SPDX-License-Identifier: Apache-2.0
// Diagnostic: what was seen, where, and what to do; the only way an error reaches a user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

enum class Severity : uint8_t
{
    Note,
    Warning,
    Error
};

enum class DiagnosticCode : uint8_t
{
#define DIAGNOSTIC(name, text) name,
#include "core/base/diagnostics.def"
#undef DIAGNOSTIC
};

/// Stable kebab-case text of a code, e.g. "shape-mismatch".
std::string_view codeText(DiagnosticCode code);
std::string_view severityText(Severity severity);

/// Where something was seen; empty fields are unknown.
struct Location
{
    std::string file;
    std::string graphPath; ///< e.g. "main/if_3/then_branch"
    std::string node;      ///< readable node name
    std::string op;        ///< foreign operator name as the model says it, e.g. "Conv"
    std::string detail;    ///< attribute, tensor, target key, line:column, ...
};

struct Diagnostic
{
    Severity severity = Severity::Error;
    DiagnosticCode code = DiagnosticCode::InternalBug;
    std::string
        message; ///< lower-case start, no full stop, names in backticks, hint after a semicolon
    Location location;
    std::vector<Diagnostic> notes = {};
    int crashSignal = 0; ///< that ended the process which ran compiled code; 0: it was no crash

    /// "error[code]: message at node 'name' (Op)" on one line; notes follow on indented lines.
    std::string text() const;
};

/// An error diagnostic; the usual way to fail.
Diagnostic makeError(DiagnosticCode code, std::string message, Location location = {});
Diagnostic makeWarning(DiagnosticCode code, std::string message, Location location = {});

/// True when any entry is an error.
bool hasErrors(const std::vector<Diagnostic>& diagnostics);

} // namespace tenon::core
