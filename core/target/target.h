// SPDX-License-Identifier: Apache-2.0
// Target: what to compile for, as the field writes it: "llvm -mcpu=cortex-a72", JSON, or a tag.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tenon::core {

using TargetList = std::vector<std::string>;
/// A typed option value; booleans are 0 or 1, as in the canonical string.
using TargetValue = std::variant<int64_t, std::string, TargetList>;

/// A parsed target. Everything the string said, typed, with the kind's defaults filled in.
struct Target
{
    std::string kind;              ///< "llvm", "c", "cuda", ...
    std::string tag;               ///< the tag it came from, or empty
    std::vector<std::string> keys; ///< dispatch keys in order of preference
    std::string device;
    std::string mcpu;    ///< empty: generic; "native": this computer
    std::string mtriple; ///< empty: this computer
    std::vector<std::string> mattr;
    std::map<std::string, TargetValue> attributes; ///< every other option of the kind
    std::shared_ptr<const Target> host;            ///< null when none was given

    /// The canonical string (kind, keys, then options by name); parses back to an equal target,
    /// except for the host and tag, which it does not carry.
    std::string text() const;
    /// The exported JSON object, host included.
    std::string json() const;
    /// One line per option in effect: what it means.
    std::vector<std::string> explain() const;

    /// An option outside the named fields, or null.
    const TargetValue* find(std::string_view name) const;
    int64_t intOption(std::string_view name, int64_t fallback) const;
    std::string stringOption(std::string_view name) const;
    /// True for kinds whose code runs on a processor with a LLVM triple (llvm, c, hexagon).
    bool isCpu() const;
    /// Armv7E-M or Armv8-M DSP instructions, respectively Helium, by the name of the CPU.
    bool hasDsp() const;
    bool hasMve() const;
};

bool operator==(const Target& a, const Target& b);

/// Parses a tag, a JSON object (first character `{`) or the raw form, tried in that order.
/// Errors carry the option's key in `location.detail` and name the candidates.
Result<Target> parseTarget(std::string_view text);

/// What LLVM knows for one triple, as plain data; filled by the code generator.
struct CpuTables
{
    std::vector<std::string> cpus;
    std::vector<std::string> features; ///< without sign
};

/// The name LLVM uses for the target's CPU ("v68" is "hexagonv68"); empty when none was given.
std::string llvmCpuName(const Target& target);

/// Checks CPU and features against the tables; one error per unknown name, with the nearest names.
std::vector<Diagnostic> validateTarget(const Target& target, const CpuTables& tables);

} // namespace tenon::core
