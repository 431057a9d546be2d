// SPDX-License-Identifier: Apache-2.0
// Sparse tensors: the levels are walked from the outermost on, all entries of a level at once.
#include "compiler/frontend/tflite/file/sparse_tensor.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// A vector of one of three widths: a union's type at `field`, its table behind.
std::vector<int64_t> indexVector(const FlatTable& table, int field)
{
    const FlatTable held = table.table(field + 1);
    switch (table.number<uint8_t>(field)) {
    case 1: return held.integers(0);
    case 2: return held.numbers<uint16_t, int64_t>(0);
    case 3: return held.numbers<uint8_t, int64_t>(0);
    default: return {};
    }
}

/// More stored elements than this have no place in memory.
constexpr size_t kMostEntries = size_t{1} << 30;

/// What one step along each level adds to the place of an element.
struct Steps
{
    std::vector<int64_t> steps;
    std::vector<int64_t> extents; ///< how far a level may reach
};

Diagnostic wrongTree(const std::string& what)
{
    return makeError(DiagnosticCode::BadModel, "sparse storage that " + what);
}

/// Sizes of the blocks by dimension; 1 where there are none.
Result<std::vector<int64_t>> blockSizes(const TfliteSparsity& sparsity,
                                        const std::vector<int64_t>& shape)
{
    std::vector<int64_t> sizes(shape.size(), 1);
    for (size_t level = 0; level < sparsity.order.size(); ++level) {
        const int64_t of = sparsity.order[level] - static_cast<int64_t>(shape.size());
        if (of < 0) continue;
        const TfliteSparseLevel& block = sparsity.levels[level];
        const int64_t divided = sparsity.blocks[static_cast<size_t>(of)];
        const auto axis = static_cast<size_t>(divided);
        if (!block.isDense || block.size < 1 || shape[axis] % block.size != 0 || sizes[axis] != 1)
            return wrongTree("has blocks that do not divide dimension " + std::to_string(divided));
        sizes[axis] = block.size;
    }
    return sizes;
}

/// The levels are the dimensions and those of blocks in some order, each once.
bool isComplete(const TfliteSparsity& sparsity, size_t rank)
{
    const size_t levels = rank + sparsity.blocks.size();
    if (sparsity.order.size() != levels || sparsity.levels.size() != levels) return false;
    std::vector<int64_t> sorted = sparsity.order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < levels; ++i)
        if (sorted[i] != static_cast<int64_t>(i)) return false;
    return std::all_of(sparsity.blocks.begin(), sparsity.blocks.end(), [&](int64_t axis) {
        return axis >= 0 && axis < static_cast<int64_t>(rank);
    });
}

Result<Steps> stepsOf(const TfliteSparsity& sparsity, const std::vector<int64_t>& shape)
{
    if (!isComplete(sparsity, shape.size())) return wrongTree("does not list each dimension once");
    const auto sizes = blockSizes(sparsity, shape);
    if (!sizes) return sizes.error();
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    Steps out;
    for (const int64_t dimension : sparsity.order) {
        const bool isBlock = dimension >= static_cast<int64_t>(shape.size());
        const auto at = static_cast<size_t>(
            isBlock ? sparsity.blocks[static_cast<size_t>(dimension) - shape.size()] : dimension);
        out.steps.push_back(isBlock ? strides[at] : strides[at] * (*sizes)[at]);
        out.extents.push_back(isBlock ? (*sizes)[at] : shape[at] / (*sizes)[at]);
    }
    return out;
}

/// The places of the entries of a level below those of the level above.
Result<std::vector<int64_t>> below(const std::vector<int64_t>& above,
                                   const TfliteSparseLevel& level, int64_t step, int64_t extent)
{
    std::vector<int64_t> out;
    if (level.isDense) {
        if (level.size != extent)
            return wrongTree("has " + std::to_string(level.size) + " entries where the shape has " +
                             std::to_string(extent));
        if (above.size() > kMostEntries / static_cast<size_t>(std::max<int64_t>(extent, 1)))
            return wrongTree("has too many entries");
        out.reserve(above.size() * static_cast<size_t>(extent));
        for (const int64_t place : above)
            for (int64_t i = 0; i < extent; ++i) out.push_back(place + i * step);
        return out;
    }
    if (level.segments.size() != above.size() + 1) return wrongTree("has segments amiss");
    for (size_t p = 0; p < above.size(); ++p) {
        const int64_t first = level.segments[p], last = level.segments[p + 1];
        if (first < 0 || last < first || last > static_cast<int64_t>(level.indices.size()))
            return wrongTree("has segments outside of its indices");
        if (out.size() + static_cast<size_t>(last - first) > level.indices.size())
            return wrongTree("has segments that overlap");
        for (int64_t i = first; i < last; ++i) {
            const int64_t index = level.indices[static_cast<size_t>(i)];
            if (index < 0 || index >= extent)
                return wrongTree("has the index " + std::to_string(index) + " among " +
                                 std::to_string(extent));
            out.push_back(above[p] + index * step);
        }
    }
    return out;
}

} // namespace

TfliteSparsity sparsityOf(const FlatTable& table)
{
    TfliteSparsity out{.order = table.integers(0), .blocks = table.integers(1), .levels = {}};
    for (const FlatTable& level : table.tables(2))
        out.levels.push_back({.isDense = level.number<int8_t>(0) == 0,
                              .size = level.number<int32_t>(1),
                              .segments = indexVector(level, 2),
                              .indices = indexVector(level, 4)});
    return out;
}

Result<std::vector<int64_t>> sparsePlaces(const TfliteSparsity& sparsity,
                                          const std::vector<int64_t>& shape)
{
    const auto steps = stepsOf(sparsity, shape);
    if (!steps) return steps.error();
    std::vector<int64_t> places{0};
    for (size_t level = 0; level < sparsity.levels.size(); ++level) {
        auto next =
            below(places, sparsity.levels[level], steps->steps[level], steps->extents[level]);
        if (!next) return next.error();
        places = *std::move(next);
    }
    return places;
}

} // namespace tenon::compiler
