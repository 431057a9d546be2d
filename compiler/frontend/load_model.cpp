// SPDX-License-Identifier: Apache-2.0
// The list of frontends and how their files are told apart.
#include "compiler/frontend/load_model.h"

#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/frontend/operator_table.h"
#include "compiler/passes/passes.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/ir/graph_text.h"
#include "core/ir/graph_verify.h"

#include <filesystem>

namespace tenon::compiler {
namespace {

/// Graph IR begins with a comment or a function, after blanks.
bool looksLikeGraphText(std::string_view text)
{
    const std::string_view start = trimmed(text.substr(0, 256));
    return start.starts_with("def @") || start.starts_with("//");
}

std::string dtypeText(const TensorType& type) { return type.dtype.text(); }

Loaded loadedFromText(Module module)
{
    Loaded loaded;
    loaded.facts.format = "tenon";
    const GraphFunction& main = module.main();
    for (const NodeId id : main.params) {
        const NodeRecord& param = module.node(id);
        loaded.facts.inputs.push_back(
            {param.name, dtypeText(param.types[0]), param.types[0].shape});
    }
    for (size_t i = 0; i < main.results.size(); ++i) {
        const TensorType& type = module.type(main.results[i]);
        const std::string name =
            i < main.resultNames.size() ? main.resultNames[i] : "output" + std::to_string(i);
        loaded.facts.outputs.push_back({name, dtypeText(type), type.shape});
    }
    for (const NodeId id : main.order) {
        const NodeRecord& node = module.node(id);
        if (node.kind == NodeKind::Op) {
            ++loaded.facts.nodeCount;
            ++loaded.facts.opCounts[node.op];
        } else if (node.constant) {
            loaded.facts.parameterCount += node.constant->size();
            loaded.facts.parameterBytes += static_cast<int64_t>(node.constant->bytes().size());
        }
    }
    loaded.module = std::move(module);
    return loaded;
}

/// Types that the text leaves out are inferred; those it states must be the operators'.
Result<Module> readText(std::string_view text)
{
    auto module = parseModule(text);
    if (!module) return module;
    // What breaks the IR's rules here is the text's fault, not a pass's.
    const auto badText = [](Diagnostic error) {
        error.code = DiagnosticCode::BadText;
        return error;
    };
    const VerifyOptions structure{.types = false};
    if (auto errors = verifyModule(*module, structure); !errors.empty()) return badText(errors[0]);
    if (const Status done = inferMissingTypes(*module); !done) return done.error();
    if (auto errors = verifyGraph(*module); !errors.empty()) return badText(errors[0]);
    return module;
}

/// With the operators that its files declare, and the file beside the model.
Result<ImportOptions> withOperators(const std::string& path, ImportOptions options)
{
    std::error_code none;
    const std::string beside = operatorFileBeside(path);
    if (beside != path && std::filesystem::is_regular_file(beside, none))
        options.operatorFiles.push_back(beside);
    if (options.operatorFiles.empty()) return options;
    auto table = readOperatorFiles(options.operatorFiles);
    if (!table) return table.error();
    options.operators = std::make_shared<const OperatorTable>(std::move(*table));
    return options;
}

} // namespace

Result<Loaded> loadModel(const std::string& path, const ImportOptions& options)
{
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    if (!looksLikeGraphText((*file)->text())) {
        const auto all = withOperators(path, options);
        return all ? loadOnnx(path, *all) : all.error();
    }
    auto module = readText((*file)->text());
    if (!module) {
        Diagnostic error = module.error();
        error.location.file = path;
        return error;
    }
    Loaded loaded = loadedFromText(std::move(*module));
    loaded.name = std::filesystem::path(path).stem().string();
    return loaded;
}

} // namespace tenon::compiler
