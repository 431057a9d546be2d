// SPDX-License-Identifier: Apache-2.0
// The scopes that all nodes share, then what tells them apart: a range where that is numbered.
#include "core/ir/source_place.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace tenon::core {
namespace {

constexpr size_t kNameBytes = 40;

using Path = std::vector<std::string>;

/// The end of a long name, which tells it from others.
std::string shortened(const std::string& name)
{
    if (name.size() <= kNameBytes) return name;
    size_t from = name.size() - kNameBytes;
    while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xc0) == 0x80) ++from;
    return ".." + name.substr(from);
}

/// "layer1" says nothing before "layer1.0".
std::string pathText(const Path& path, size_t end)
{
    std::vector<std::string> parts;
    for (size_t i = 0; i < end; ++i)
        if (i + 1 == path.size() || !path[i + 1].starts_with(path[i] + "."))
            parts.push_back(shortened(path[i]));
    if (parts.size() > 3) parts = {parts[0], "..", parts[parts.size() - 2], parts.back()};
    return join(parts, "/");
}

struct Numbered
{
    std::string stem; ///< "features."
    int64_t number = 0;
};

std::optional<Numbered> numbered(const std::string& name)
{
    size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    Numbered out{name.substr(0, digits)};
    const auto [end, error] =
        std::from_chars(name.data() + digits, name.data() + name.size(), out.number);
    if (digits == name.size() || error != std::errc()) return std::nullopt;
    return out;
}

/// "features.0-1" where all are numbered alike.
std::optional<std::string> rangeText(const std::vector<std::string>& names)
{
    std::optional<Numbered> first;
    int64_t low = 0, high = 0;
    for (const std::string& name : names) {
        const auto one = numbered(name);
        if (!one || (first && one->stem != first->stem)) return std::nullopt;
        low = first ? std::min(low, one->number) : one->number;
        high = first ? std::max(high, one->number) : one->number;
        if (!first) first = one;
    }
    return shortened(first->stem) + std::to_string(low) + "-" + std::to_string(high);
}

std::string listText(const std::vector<std::string>& names)
{
    if (names.size() == 1) return shortened(names[0]);
    if (const auto range = rangeText(names)) return *range;
    return shortened(names.front()) + (names.size() == 2 ? ", " : " .. ") + shortened(names.back());
}

void addOnce(std::vector<std::string>& names, const std::string& name)
{
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::string leafOf(const SourceNode& node) { return node.name.substr(node.name.rfind('/') + 1); }

} // namespace

namespace {

using Nodes = std::vector<const SourceNode*>;

/// How many scopes all of them have in common.
size_t sharedScopes(const Nodes& nodes)
{
    const Path& first = nodes[0]->scope;
    size_t shared = first.size();
    for (const SourceNode* node : nodes) {
        shared = std::min(shared, node->scope.size());
        for (size_t i = 0; i < shared; ++i)
            if (node->scope[i] != first[i]) shared = i;
    }
    return shared;
}

std::string placeOf(const Nodes& nodes)
{
    const Path& first = nodes[0]->scope;
    const size_t shared = sharedScopes(nodes);
    std::vector<std::string> next; // where they part
    Nodes deeper;
    for (const SourceNode* node : nodes)
        if (shared < node->scope.size()) {
            addOnce(next, node->scope[shared]);
            deeper.push_back(node);
        }
    if (next.size() == 1) return placeOf(deeper); // one way down: what follows tells more
    if (next.empty() && shared > 0) return pathText(first, shared);
    if (next.empty())
        for (const SourceNode* node : nodes) addOnce(next, leafOf(*node));
    Path before(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(shared));
    before.push_back(next.front());
    const std::string prefix = pathText(before, shared);
    return (prefix.empty() ? "" : prefix + "/") + listText(next);
}

} // namespace

std::string sourcePlace(const std::vector<SourceNode>& sources, const std::vector<SourceId>& of)
{
    Nodes nodes;
    for (const SourceId id : of)
        if (id.value < sources.size()) nodes.push_back(&sources[id.value]);
    return nodes.empty() ? std::string() : placeOf(nodes);
}

} // namespace tenon::core
