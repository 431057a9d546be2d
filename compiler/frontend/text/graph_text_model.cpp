// SPDX-License-Identifier: Apache-2.0
// Reads, verifies and counts a module of graph-IR text.
#include "compiler/frontend/text/graph_text_model.h"

#include "compiler/passes/passes.h"
#include "core/ir/graph_verify.h"

namespace tenon::compiler {
namespace {

std::string dtypeText(const TensorType& type) { return type.dtype.text(); }

Loaded loadedModule(Module module)
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
Result<Module> readText(std::string_view text, const ConstantPool& pool)
{
    auto module = parseModule(text, pool);
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

} // namespace

Result<Loaded> loadedFromText(std::string_view text, const ConstantPool& pool)
{
    auto module = readText(text, pool);
    if (!module) return module.error();
    return loadedModule(std::move(*module));
}

} // namespace tenon::compiler
