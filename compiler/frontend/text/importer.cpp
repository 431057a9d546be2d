// SPDX-License-Identifier: Apache-2.0
// The text form of graph IR as a model file.
#include "compiler/frontend/importer.h"

#include "compiler/passes/passes.h"
#include "core/base/text.h"
#include "core/ir/graph_text.h"
#include "core/ir/graph_verify.h"

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

Result<Loaded> loadText(const std::string& path, std::shared_ptr<const MappedFile> file,
                        const ImportOptions&)
{
    auto module = readText(file->text());
    if (module) return loadedFromText(std::move(*module));
    Diagnostic error = module.error();
    error.location.file = path;
    return error;
}

} // namespace

extern const Importer textImporter;
const Importer textImporter{
    .format = "tenon",
    .title = "graph IR text",
    .suffix = "",
    .files = "graph-IR text",
    .takesOptions = false,
    .isMine = looksLikeGraphText,
    .load = loadText,
};

} // namespace tenon::compiler
