// SPDX-License-Identifier: Apache-2.0
// Opening .tflite files.
#pragma once

#include "compiler/frontend/loaded.h"
#include "core/base/file.h"
#include "core/base/result.h"

#include <span>

namespace tenon::compiler {

/// `owner` keeps `bytes`, which constants point into; null: they are copied.
Result<Loaded> loadTfliteBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                               const std::string& name, const ImportOptions& options);
Result<Loaded> loadTfliteFile(const std::string& path, std::shared_ptr<const MappedFile> file,
                              const ImportOptions& options);
/// Importer::outputNames, channelsFirstName() where the module has the channels first. Nothing of a
/// file that cannot be imported without options: its nodes go by the file's names.
Result<std::vector<std::vector<std::string>>> tfliteOutputNames(const std::string& path,
                                                                const MappedFile& file);

} // namespace tenon::compiler
