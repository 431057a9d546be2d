// SPDX-License-Identifier: Apache-2.0
// Attrs: the small sorted list of typed attribute values of a node.
#pragma once

#include "core/base/result.h"
#include "core/tensor/dtype.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tenon::core {

/// Bool is an int (0/1). Lists may be empty.
using AttrValue = std::variant<int64_t, double, std::string, DataType, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>>;

/// Sorted by name; setting an existing name replaces its value. Defaults are omitted by convention.
/// Copies share their storage until one of them changes.
class Attrs
{
public:
    Attrs() = default;
    Attrs(std::initializer_list<std::pair<std::string, AttrValue>> entries);

    const AttrValue* find(std::string_view name) const;
    bool has(std::string_view name) const { return find(name) != nullptr; }
    Attrs& set(std::string name, AttrValue value);
    void erase(std::string_view name);

    /// Typed reads with a default for absent names; CHECK when the stored type differs (types are
    /// checked at creation).
    int64_t integer(std::string_view name, int64_t fallback) const;
    double number(std::string_view name, double fallback) const; ///< accepts a stored integer
    std::string string(std::string_view name, std::string_view fallback) const;
    DataType dtype(std::string_view name, DataType fallback) const;
    std::vector<int64_t> integers(std::string_view name, std::vector<int64_t> fallback) const;
    std::vector<double> numbers(std::string_view name, std::vector<double> fallback) const;
    std::vector<std::string> strings(std::string_view name,
                                     std::vector<std::string> fallback) const;

    using Entries = std::vector<std::pair<std::string, AttrValue>>;
    const Entries& entries() const;
    friend bool operator==(const Attrs& a, const Attrs& b)
    {
        return a.m_entries == b.m_entries || a.entries() == b.entries();
    }

private:
    Entries& owned(); ///< the storage, copied first when it is shared

    std::shared_ptr<Entries> m_entries; ///< null: none
};

/// Canonical text of one value: 3, 0.5f, "NCHW", T.float32, [1, 2], f[0.5f, 1f], s["a", "b"];
/// unambiguous by type.
std::string attrText(const AttrValue& value);

} // namespace tenon::core
