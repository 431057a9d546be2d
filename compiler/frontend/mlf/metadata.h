// SPDX-License-Identifier: Apache-2.0
// metadata.json of a Model Library Format archive.
#pragma once

#include "compiler/frontend/loaded.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::compiler {

struct LibraryMetadata
{
    std::string module; ///< its one model; members are named after it
    std::string producer;
    std::string producerVersion; ///< empty where another tool wrote it
    bool hasGraph = false;       ///< made for the graph executor
    std::vector<ValueFacts> inputs;
    std::vector<ValueFacts> outputs;
    /// What there is to say of it, for people: executor, target, when, memory with its pools and
    /// storages.
    std::vector<std::pair<std::string, std::string>> rows;
};

/// Errors are BadModel with the key: no JSON, a version that is not known, a part that is missing
/// or of another type; UnsupportedFeature for several models and for single operators.
Result<LibraryMetadata> readLibraryMetadata(std::string_view json);

} // namespace tenon::compiler
