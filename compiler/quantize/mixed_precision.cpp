// SPDX-License-Identifier: Apache-2.0
// Ranking by single layers, then bisection over how many of them stay in float.
#include "compiler/quantize/mixed_precision.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

std::vector<std::string> firstOf(const std::vector<LayerHarm>& ranked, size_t count)
{
    std::vector<std::string> out;
    for (size_t i = 0; i < count; ++i) out.push_back(ranked[i].layer);
    return out;
}

Result<std::vector<LayerHarm>> rank(const std::vector<std::string>& layers,
                                    const LossWithFloats& lossWith, const JobContext& job)
{
    std::vector<LayerHarm> out;
    for (const std::string& layer : layers) {
        if (const Status go = job.checkStop(); !go) return go.error();
        job.progress(static_cast<double>(out.size()) / static_cast<double>(layers.size()),
                     "sensitivity: " + layer);
        std::vector<std::string> others;
        for (const std::string& other : layers)
            if (other != layer) others.push_back(other);
        const auto loss = lossWith(others);
        if (!loss) return loss.error();
        out.push_back({.layer = layer, .loss = *loss});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const LayerHarm& a, const LayerHarm& b) { return a.loss > b.loss; });
    return out;
}

} // namespace

Result<std::vector<LayerHarm>> keepHarmfulInFloat(const std::vector<std::string>& layers,
                                                  double limit, const LossWithFloats& lossWith,
                                                  JobContext& job)
{
    auto ranked = rank(layers, lossWith, job);
    if (!ranked) return ranked;
    // More layers in float lose less, nearly always: bisection finds a number that is enough.
    size_t tooFew = 0, enough = ranked->size();
    const auto without = lossWith({});
    if (!without) return without.error();
    if (*without <= limit) enough = 0;
    while (enough > tooFew + 1) {
        const size_t count = (tooFew + enough) / 2;
        const auto loss = lossWith(firstOf(*ranked, count));
        if (!loss) return loss.error();
        (*loss <= limit ? enough : tooFew) = count;
    }
    for (size_t i = 0; i < enough; ++i) (*ranked)[i].isFloat = true;
    return ranked;
}

} // namespace tenon::compiler
