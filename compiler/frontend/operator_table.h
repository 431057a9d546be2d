// SPDX-License-Identifier: Apache-2.0
// Operators that users declare, as frontends look them up.
#pragma once

#include "compiler/ops/defined/definition.h"

#include <map>
#include <string>
#include <vector>

namespace tenon::compiler {

struct OperatorTable
{
    std::map<std::string, Definition> definitions; ///< by name with domain: "com.example.Swish"

    const Definition* find(const std::string& name) const;
};

/// The file beside a model that is read without being asked for: "net.onnx" has "net.ops".
std::string operatorFileBeside(const std::string& modelPath);

/// The definitions of all files. Errors name the file: IoFailure, BadText with line and column, and
/// for an operator that two files declare differently.
Result<OperatorTable> readOperatorFiles(const std::vector<std::string>& paths);

} // namespace tenon::compiler
