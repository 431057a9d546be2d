// SPDX-License-Identifier: Apache-2.0
// Facts shared by all frontends.
#include "compiler/frontend/loaded.h"

#include "core/base/text.h"

namespace tenon::compiler {

std::vector<Diagnostic> dynamicInputErrors(const Module& module)
{
    std::vector<Diagnostic> errors;
    for (const NodeId id : module.main().params) {
        const NodeRecord& param = module.node(id);
        const Shape& shape = param.types[0].shape;
        if (constantShape(shape)) continue;
        std::vector<std::string> example;
        for (const Dim& dim : shape) example.push_back(dim.isConst() ? dim.text() : "1");
        errors.push_back(makeError(DiagnosticCode::DynamicShape,
                                   "input " + quoted(param.name) + " has the dynamic shape " +
                                       shapeText(shape) + "; bind it, for example with --shape " +
                                       param.name + "=" + join(example, ","),
                                   {.detail = param.name}));
    }
    return errors;
}

} // namespace tenon::compiler
