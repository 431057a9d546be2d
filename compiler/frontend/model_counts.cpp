// SPDX-License-Identifier: Apache-2.0
// Facts of the file, and counts of the graph that was made of it.
#include "compiler/frontend/model_counts.h"

#include "compiler/ops/node_work.h"

namespace tenon::compiler {

ModelCounts countsOf(const Loaded& loaded)
{
    ModelCounts counts;
    counts.fileNodes = static_cast<int64_t>(loaded.facts.nodeCount);
    counts.graphNodes = graphNodes(loaded.module);
    counts.nestedNodes = nestedNodes(loaded.module);
    counts.parameters = loaded.facts.parameterCount;
    counts.parameterBytes = loaded.facts.parameterBytes;
    if (loaded.module.mainId().isValid())
        for (const NodeId id : loaded.module.main().order)
            counts.macs += macsOf(loaded.module, loaded.module.node(id));
    return counts;
}

} // namespace tenon::compiler
