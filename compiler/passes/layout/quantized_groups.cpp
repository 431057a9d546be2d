// SPDX-License-Identifier: Apache-2.0
// Which groups are joined, and their weights.
#include "compiler/passes/layout/quantized_groups.h"

#include "compiler/passes/layout/channel_block.h"

#include <algorithm>

namespace tenon::compiler {

std::optional<int64_t> joinedGroups(const ByteGroups& of)
{
    std::optional<int64_t> best;
    int64_t least = 0;
    for (int64_t joined = of.groups; joined >= 1; --joined) {
        if (of.groups % joined != 0) continue;
        const int64_t in = of.inChannels / joined, out = of.outChannels / joined;
        const int64_t block = channelBlock(out, of.lanes);
        // Channels of one group alone may be packed into words; those of several lie in blocks.
        if (block == 0 || (joined > 1 && in % 4 != 0)) continue;
        const int64_t channels = of.hasRuns ? 16 : 4;
        const int64_t steps = (in + channels - 1) / channels;
        const int64_t vectors =
            of.outChannels / (of.hasRuns ? 1 : std::min<int64_t>(block, of.vectorLanes));
        if (best && steps * vectors >= least) continue;
        best = joined;
        least = steps * vectors;
    }
    return best;
}

Tensor joinedWeight(const Tensor& weight, int64_t groups, int64_t joined)
{
    const std::vector<int64_t>& s = weight.shape();
    const int64_t each = s[1], times = groups / joined, window = s[2] * s[3];
    const int64_t outOfGroup = s[0] / groups;
    return Tensor::make(kInt8, {s[0], each * times, s[2], s[3]}, [&](std::span<std::byte> bytes) {
        for (int64_t o = 0; o < s[0]; ++o) {
            const int64_t first = o / outOfGroup % times * each;
            for (int64_t i = 0; i < each; ++i)
                for (int64_t at = 0; at < window; ++at)
                    storeInteger(kInt8, bytes, (o * each * times + first + i) * window + at,
                                 weight.integer((o * each + i) * window + at));
        }
    });
}

} // namespace tenon::compiler
