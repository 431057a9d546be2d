// SPDX-License-Identifier: Apache-2.0
// Opening .tflite files: map, read the tables, import.
#include "compiler/frontend/tflite/load_tflite.h"

#include "compiler/frontend/tflite/file/model_facts.h"
#include "compiler/frontend/tflite/graph/tflite_graph.h"

#include <filesystem>

namespace tenon::compiler {

Result<Loaded> loadTfliteBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                               const std::string& name, const ImportOptions& options)
{
    const auto model = readTfliteModel(bytes, std::move(owner), name);
    if (!model) return model.error();
    Loaded loaded = TfliteGraph(*model, name, options).run();
    loaded.name = std::filesystem::path(name).stem().string();
    loaded.facts = tfliteFactsOf(*model);
    return loaded;
}

Result<Loaded> loadTfliteFile(const std::string& path, std::shared_ptr<const MappedFile> file,
                              const ImportOptions& options)
{
    const std::span<const std::byte> bytes = file->bytes();
    return loadTfliteBytes(bytes, std::move(file), path, options);
}

} // namespace tenon::compiler
