// SPDX-License-Identifier: Apache-2.0
// Both lists of pools for one target.
#include "compiler/driver/named_pools.h"

namespace tenon::compiler {

Status namePools(const PoolLists& lists, CompileOptions& how)
{
    const auto target = parseTarget(how.target);
    const std::string kind = target ? target->kind : "";
    auto workspace = namedPools(lists.workspace, kind);
    if (!workspace) return workspace.error();
    auto constants = namedPools(lists.constants, kind);
    if (!constants) return constants.error();
    if (Status fine = checkApart(*workspace, *constants); !fine) return fine;
    how.workspacePools = std::move(*workspace);
    how.constantPools = std::move(*constants);
    return kDone;
}

} // namespace tenon::compiler
