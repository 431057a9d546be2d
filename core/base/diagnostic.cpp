// SPDX-License-Identifier: Apache-2.0
// Text forms of diagnostics.
#include "core/base/diagnostic.h"

#include "core/base/board_code.h"
#include "core/base/option_code.h"
#include "core/base/printable.h"

#include <algorithm>
#include <iterator>

namespace tenon::core {

namespace {

constexpr size_t kMostNotes = 1000; ///< what a file that is wrong everywhere may print

} // namespace

std::string_view codeText(DiagnosticCode code)
{
    switch (code) {
#define DIAGNOSTIC(name, text)                                                                     \
    case DiagnosticCode::name:                                                                     \
        return text;
#include "core/base/diagnostics.def"
#undef DIAGNOSTIC
    }
    static constexpr std::string_view kBoardTexts[] = {
#define DIAGNOSTIC(name, text) text,
#include "core/base/board_diagnostics.def"
#undef DIAGNOSTIC
    };
    static constexpr std::string_view kOptionTexts[] = {
#define DIAGNOSTIC(name, text) text,
#include "core/base/option_diagnostics.def"
#undef DIAGNOSTIC
    };
    const auto number = static_cast<size_t>(code);
    if (number >= OptionCode::kFirst && number - OptionCode::kFirst < std::size(kOptionTexts))
        return kOptionTexts[number - OptionCode::kFirst];
    if (number >= BoardCode::kFirst && number - BoardCode::kFirst < std::size(kBoardTexts))
        return kBoardTexts[number - BoardCode::kFirst];
    return "internal-error";
}

std::string_view severityText(Severity severity)
{
    switch (severity) {
    case Severity::Note: return "note";
    case Severity::Warning: return "warning";
    case Severity::Error: return "error";
    }
    return "error";
}

std::string Diagnostic::text() const
{
    std::string out(severityText(severity));
    out += "[";
    out += codeText(code);
    // Names come out of files.
    const auto name = [](const std::string& text) {
        return printable(elided(text), LineBreaks::Escape);
    };
    out += "]: " + printable(elidedWords(message));
    if (!location.node.empty()) out += " at node '" + name(location.node) + "'";
    if (!location.op.empty()) out += " (" + name(location.op) + ")";
    if (!location.detail.empty()) out += " [" + name(location.detail) + "]";
    if (!location.graphPath.empty()) out += " in " + name(location.graphPath);
    if (!location.file.empty()) out += " in file " + printable(location.file, LineBreaks::Escape);
    const size_t shown = std::min(notes.size(), kMostNotes);
    for (size_t i = 0; i < shown; ++i) out += "\n  " + notes[i].text();
    if (shown < notes.size()) out += "\n  and " + std::to_string(notes.size() - shown) + " more";
    return out;
}

Diagnostic makeError(DiagnosticCode code, std::string message, Location location)
{
    return {Severity::Error, code, std::move(message), std::move(location), {}};
}

Diagnostic makeWarning(DiagnosticCode code, std::string message, Location location)
{
    return {Severity::Warning, code, std::move(message), std::move(location), {}};
}

bool hasErrors(const std::vector<Diagnostic>& diagnostics)
{
    for (const Diagnostic& d : diagnostics)
        if (d.severity == Severity::Error) return true;
    return false;
}

} // namespace tenon::core
