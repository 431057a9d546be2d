// SPDX-License-Identifier: Apache-2.0
// Patches by a model of what their layers cost, for images of usual sizes.
#include "compiler/passes/layout/patch_sides.h"

#include "core/ir/size_bounds.h"

#include <algorithm>
#include <limits>

namespace tenon::compiler {
namespace {

/// Rows and columns of pictures that networks are run on, as often as each is listed.
constexpr std::array<int64_t, 11> kUsualExtents{96,  128, 160, 192, 224, 256,
                                                320, 384, 416, 512, 640};
constexpr std::array<int64_t, 4> kCandidates{4, 8, 16, 32};
/// What is never larger than this may be one patch.
constexpr int64_t kWholeSide = 28;
/// Calling a kernel for one patch.
constexpr double kCallCycles = 500;

/// Of an image of a size that nothing is known about.
constexpr int64_t kAssumedExtent = 64;

} // namespace

PatchSides::PatchSides(const Module& module, const TargetFacts& facts)
    : m_facts(facts)
    , m_bounds(boundsOf(module.main()))
{
    for (const int64_t extent : kUsualExtents) {
        SizeBounds sizes = m_bounds;
        for (const NodeId parameter : module.main().params)
            for (const TensorType& type : module.node(parameter).types)
                for (const Dim& dim : type.shape)
                    for (const std::string& symbol : dim.symbols())
                        sizes.try_emplace(symbol, DimBounds{extent, extent});
        for (auto& [symbol, size] : sizes) {
            const int64_t value = std::clamp(extent, size.low, size.high);
            size = {value, value};
        }
        m_usual.push_back(std::move(sizes));
    }
}

std::vector<int64_t> PatchSides::candidatesFor(const Dim& extent) const
{
    const auto range = rangeOf(extent, m_bounds);
    if (!range || range->high > kWholeSide) return {kCandidates.begin(), kCandidates.end()};
    const int64_t whole = std::max<int64_t>(1, range->high);
    std::vector<int64_t> sides{whole}; // first: of equal costs, one patch
    for (const int64_t side : kCandidates)
        if (side < whole) sides.push_back(side);
    return sides;
}

/// Of what stands for all layers: a product of as many channels as there are results, whose
/// windows reach one element further, and which reads its filters again for each patch.
double PatchSides::cyclesPerPatch(int64_t rows, int64_t columns, double channels) const
{
    constexpr double kBytes = sizeof(float);
    const auto results = static_cast<double>(rows * columns);
    const auto read = static_cast<double>((rows + 2) * (columns + 2));
    const double filters = channels * channels * kBytes;
    const double filterRate = filters > static_cast<double>(m_facts.l2Bytes) / 2
                                  ? m_facts.farBytesPerCycle()
                                  : m_facts.l2BytesPerCycle;
    return kCallCycles + results * channels * channels / m_facts.floatMacs +
           2 * (read + results) * channels * kBytes / m_facts.l2BytesPerCycle +
           filters / filterRate;
}

std::array<int64_t, 2> PatchSides::of(const TensorType& image) const
{
    const auto channels = static_cast<double>(image.shape[1].constant().value_or(1));
    const auto extentOf = [](const Dim& dim, const SizeBounds& sizes) {
        const auto range = rangeOf(dim, sizes);
        return range ? std::max<int64_t>(1, range->high) : kAssumedExtent;
    };
    std::array<int64_t, 2> best{};
    double least = std::numeric_limits<double>::infinity();
    for (const int64_t rows : candidatesFor(image.shape[2])) {
        for (const int64_t columns : candidatesFor(image.shape[3])) {
            const double each = cyclesPerPatch(rows, columns, channels);
            double cycles = 0;
            for (const SizeBounds& sizes : m_usual) {
                const int64_t height = extentOf(image.shape[2], sizes);
                const int64_t width = extentOf(image.shape[3], sizes);
                const int64_t count =
                    ((height + rows - 1) / rows) * ((width + columns - 1) / columns);
                cycles += each * static_cast<double>(count) / static_cast<double>(height * width);
            }
            if (cycles < least) {
                least = cycles;
                best = {rows, columns};
            }
        }
    }
    return best;
}

} // namespace tenon::compiler
