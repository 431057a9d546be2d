// SPDX-License-Identifier: Apache-2.0
// Dim: one dimension of a shape; a number, or a polynomial over named sizes such as `batch` or
// `2*seq + 1`.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

/// Canonical sum of products: each term is a sorted list of symbol names with a non-zero
/// coefficient. Division and other non-polynomial arithmetic appear as opaque symbols whose name is
/// their text, e.g. "(n // 2)".
class Dim
{
public:
    Dim(int64_t value = 0);
    static Dim symbol(std::string name);
    /// An unknown size that equals nothing but itself; `name` must be unique in the module.
    static Dim unknown(std::string name) { return symbol(std::move(name)); }

    bool isConst() const { return m_terms.empty(); }
    /// The number; only when isConst().
    int64_t value() const;
    std::optional<int64_t> constant() const;
    std::string text() const;
    std::vector<std::string> symbols() const;
    /// Replaces symbols by values; symbols not named stay.
    Dim bind(const std::map<std::string, int64_t>& values) const;

    friend Dim operator+(const Dim& a, const Dim& b);
    friend Dim operator-(const Dim& a, const Dim& b);
    friend Dim operator*(const Dim& a, const Dim& b);
    friend Dim floorDiv(const Dim& a,
                        const Dim& b); ///< exact when every coefficient divides; else opaque
    friend bool operator==(const Dim& a, const Dim& b) = default;

private:
    using Term = std::vector<std::string>;
    int64_t m_constant = 0;
    std::map<Term, int64_t> m_terms;
};

Dim floorDiv(const Dim& a, const Dim& b);

using Shape = std::vector<Dim>;

/// "(1, 3, n, 224)".
std::string shapeText(const Shape& shape);
Shape makeShape(const std::vector<int64_t>& dims);
/// All dimensions as numbers, or nothing when one is symbolic.
std::optional<std::vector<int64_t>> constantShape(const Shape& shape);
/// Product of the dimensions; CHECKs against 64-bit overflow for constant shapes.
int64_t elementCount(const std::vector<int64_t>& dims);

/// Reads "3", "batch", "2*seq + 1"; error BadText.
Result<Dim> parseDim(std::string_view text);

} // namespace tenon::core
