// SPDX-License-Identifier: Apache-2.0
// Patches are counted by divisions, a batch by its name.
#include "compiler/passes/patch_chunks.h"

#include <algorithm>

namespace tenon::compiler {

using namespace core;

bool arePatches(const Dim& count)
{
    const std::vector<std::string> symbols = count.symbols();
    return std::any_of(symbols.begin(), symbols.end(),
                       [](const std::string& symbol) { return symbol.front() == '('; });
}

int64_t patchesAtOnce(const Dim& count, int64_t results, const SizeBounds& bounds)
{
    if (!arePatches(count)) return 1;
    int64_t chunk = std::max<int64_t>(1, kResultsAtOnce.front() / std::max<int64_t>(1, results));
    if (const auto range = rangeOf(count, bounds))
        chunk = std::clamp<int64_t>(range->high, 1, chunk);
    return chunk;
}

} // namespace tenon::compiler
