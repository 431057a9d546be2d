// SPDX-License-Identifier: Apache-2.0
// For every distance, stretches in which each node is of the same kind as the one that far behind
// it.
#include "core/ir/repeats.h"

#include "core/ir/module.h"

#include <algorithm>
#include <map>

namespace tenon::core {

namespace {

constexpr size_t kLongestBlock = 512;

/// With blocks of `length`, the repeats that reach as far as they can.
void addRepeats(std::span<const uint32_t> kinds, size_t length, std::vector<Repeat>& found)
{
    size_t matched = 0; // nodes in a row that equal the one `length` behind
    const auto close = [&](size_t end) {
        const size_t count = matched / length + 1;
        if (count >= 2) found.push_back({end - matched - length + matched % length, length, count});
        matched = 0;
    };
    for (size_t i = length; i < kinds.size(); ++i) {
        if (kinds[i] == kinds[i - length])
            ++matched;
        else
            close(i);
    }
    close(kinds.size());
}

/// A block that is itself a repetition is none: three times relu, relu are six times relu.
bool isPrimitive(std::span<const uint32_t> block)
{
    for (size_t part = 1; part * 2 <= block.size(); ++part) {
        if (block.size() % part != 0) continue;
        bool repeats = true;
        for (size_t i = part; i < block.size() && repeats; ++i)
            repeats = block[i] == block[i - part];
        if (repeats) return false;
    }
    return true;
}

} // namespace

std::vector<Repeat> findRepeats(std::span<const uint32_t> kinds, size_t leastLength)
{
    std::vector<Repeat> found;
    for (size_t length = leastLength; length <= std::min(kLongestBlock, kinds.size() / 2); ++length)
        addRepeats(kinds, length, found);
    std::erase_if(found, [&](const Repeat& repeat) {
        return !isPrimitive(kinds.subspan(repeat.first, repeat.length));
    });
    std::stable_sort(found.begin(), found.end(), [](const Repeat& a, const Repeat& b) {
        const size_t left = a.length * a.count, right = b.length * b.count;
        return left != right ? left > right : a.length < b.length;
    });
    std::vector<bool> taken(kinds.size());
    std::vector<Repeat> chosen;
    for (const Repeat& repeat : found) {
        const auto from = taken.begin() + static_cast<std::ptrdiff_t>(repeat.first);
        const auto to = taken.begin() + static_cast<std::ptrdiff_t>(repeat.end());
        if (std::find(from, to, true) != to) continue;
        std::fill(from, to, true);
        chosen.push_back(repeat);
    }
    std::sort(chosen.begin(), chosen.end(),
              [](const Repeat& a, const Repeat& b) { return a.first < b.first; });
    return chosen;
}

std::vector<RepeatedBlock> repeatedBlocks(const Module& module)
{
    std::vector<std::string> ops;
    if (!module.mainId().isValid()) return {};
    for (const SourceNode& source : module.sources())
        if (!source.scope.empty()) return {};
    for (const NodeId id : module.main().order) {
        const NodeRecord& node = module.node(id);
        if (node.kind != NodeKind::Constant && node.kind != NodeKind::Parameter)
            ops.push_back(node.op);
    }
    std::map<std::string, uint32_t> kindOf;
    std::vector<uint32_t> kinds;
    for (const std::string& op : ops)
        kinds.push_back(kindOf.emplace(op, static_cast<uint32_t>(kindOf.size())).first->second);
    std::vector<RepeatedBlock> blocks;
    for (const Repeat& repeat : findRepeats(kinds)) {
        const auto first = ops.begin() + static_cast<std::ptrdiff_t>(repeat.first);
        blocks.push_back({repeat, {first, first + static_cast<std::ptrdiff_t>(repeat.length)}});
    }
    return blocks;
}

} // namespace tenon::core
