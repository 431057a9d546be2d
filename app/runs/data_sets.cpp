// SPDX-License-Identifier: Apache-2.0
// Reads cases; a value that the import wants to know may show that another one is needed.
#include "app/runs/data_sets.h"

#include "compiler/frontend/importer.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/tensor_file.h"

#include <filesystem>

namespace tenon::runs {

namespace fs = std::filesystem;

std::string modelIn(const std::string& folder)
{
    std::error_code ignored;
    for (const compiler::Importer* importer : compiler::allImporters()) {
        const std::string path = folder + "/model" + std::string(importer->suffix);
        if (!importer->suffix.empty() && fs::is_regular_file(path, ignored)) return path;
    }
    return {};
}

Result<GivenTensors> readSet(const std::string& folder, const std::string& stem)
{
    GivenTensors out;
    for (int i = 0;; ++i) {
        const std::string path = folder + "/" + stem + "_" + std::to_string(i) + ".pb";
        if (!fs::exists(path)) return out;
        auto tensor = compiler::readTensorFile(path);
        if (!tensor) return tensor.error();
        out.emplace_back(tensor->name, std::move(tensor->tensor));
    }
}

std::vector<std::string> dataSetsIn(const std::string& folder)
{
    std::vector<std::string> out;
    std::error_code ignored;
    for (;;) {
        std::string set =
            (fs::path(folder) / ("test_data_set_" + std::to_string(out.size()))).string();
        if (!fs::is_directory(set, ignored)) return out;
        out.push_back(std::move(set));
    }
}

Result<compiler::Loaded> loadForData(const std::string& model, const GivenTensors& inputs,
                                     compiler::ImportOptions& bindings)
{
    constexpr int kMaxRounds = 8;
    auto loaded = compiler::loadModel(model, bindings);
    if (!loaded) return loaded;
    bindShapes(*loaded, inputs, bindings);
    for (int round = 0; loaded && round < kMaxRounds; ++round) {
        loaded = compiler::loadModel(model, bindings);
        if (!loaded || fixValues(*loaded, loaded->neededValues, inputs, bindings)) continue;
        // Formulas may have one rank or another, by a value that is known at run time.
        if (!hasErrors(loaded->diagnostics) ||
            !fixValues(*loaded, integerInputs(loaded->facts), inputs, bindings))
            break;
    }
    return loaded;
}

} // namespace tenon::runs
