// SPDX-License-Identifier: Apache-2.0
// Weights, inputs, outputs and what is between, by storage of the graph executor.
#include "remote/footprint/storages.h"

#include <set>

namespace tenon::remote {

Storages storagesOf(const compiler::ExecutorProgram& program)
{
    const compiler::StoragePlan plan = compiler::planStorage(program);
    std::set<int> io, constants;
    for (const auto* list : {&program.inputs, &program.outputs})
        for (const int tensor : *list) io.insert(plan.storageOf[static_cast<size_t>(tensor)]);
    for (size_t t = 0; t < program.tensors.size(); ++t)
        if (program.tensors[t].role == compiler::TensorRole::Constant)
            constants.insert(plan.storageOf[t]);
    Storages out;
    for (size_t s = 0; s < plan.bytes.size(); ++s)
        if (const int id = static_cast<int>(s); !constants.contains(id))
            (io.contains(id) ? out.io : out.others) += plan.bytes[s];
    return out;
}

} // namespace tenon::remote
