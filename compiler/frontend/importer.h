// SPDX-License-Identifier: Apache-2.0
// Importer: all that the compiler knows of a format of model files; importers.def lists them.
#pragma once

#include "compiler/frontend/loaded.h"
#include "core/base/file.h"
#include "core/base/result.h"

#include <string_view>

namespace tenon::compiler {

struct Importer
{
    std::string_view format; ///< ModelFacts::format
    std::string_view title;  ///< "ONNX"
    std::string_view suffix; ///< ".onnx": what its files end in; "" where that is anything
    std::string_view files;  ///< ".onnx file": what commands take
    bool takesOptions =
        true; ///< false: nothing is open in its files; they bind and declare nothing
    /// By content: the first bytes, where they tell.
    bool (*isMine)(std::string_view bytes);
    /// Errors only when nothing can be shown; loadModel() fills in the name and the format.
    Result<Loaded> (*load)(const std::string& path, std::shared_ptr<const MappedFile> file,
                           const ImportOptions& options);
    /// Names of the tensors that every node gives, by SourceId; null: a node goes by the name of
    /// the first.
    Result<std::vector<std::vector<std::string>>> (*outputNames)(const std::string& path,
                                                                 const MappedFile& file) = nullptr;
};

/// In the order of importers.def.
std::vector<const Importer*> allImporters();
/// "ONNX", by ModelFacts::format.
std::string titleOfFormat(std::string_view format);
/// ".onnx file or graph-IR text": what commands take as a model.
std::string modelFilesText();

} // namespace tenon::compiler
