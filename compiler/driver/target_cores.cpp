// SPDX-License-Identifier: Apache-2.0
// Which targets say how many cores there are, and adding the board's number to one.
#include "compiler/driver/target_cores.h"

#include "compiler/codegen/back_end.h"
#include "core/target/thread_choice.h"

#include <algorithm>

namespace tenon::compiler {

bool hasThreads(const core::Target& target)
{
    const BackEnd* backEnd = findBackEnd(target);
    return backEnd && backEnd->hasThreads;
}

bool lacksCores(const core::Target& target)
{
    return hasThreads(target) && target.intOption("num-cores", 0) <= 0;
}

std::string withCores(const std::string& target, unsigned cores)
{
    auto parsed = parseTarget(target);
    if (cores == 0 || !parsed || !lacksCores(*parsed)) return target;
    const unsigned count = std::min(cores, kMostThreads);
    if (target.starts_with('{') || !parsed->tag.empty()) {
        parsed->attributes["num-cores"] = int64_t{count};
        return parsed->text();
    }
    return target + " -num-cores=" + std::to_string(count);
}

} // namespace tenon::compiler
