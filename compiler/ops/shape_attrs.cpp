// SPDX-License-Identifier: Apache-2.0
// Numbers where there are any; text of what is open.
#include "compiler/ops/shape_attrs.h"

#include "core/tensor/dim_bounds.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Of empty tensors nobody can tell an open dimension by the others.
bool isClear(const Shape& shape)
{
    return constantShape(shape) || std::count(shape.begin(), shape.end(), Dim(0)) == 0;
}

} // namespace

Attrs shapeAttrs(const Shape& shape)
{
    std::vector<int64_t> numbers;
    std::vector<std::string> sizes;
    for (const Dim& dim : shape) {
        numbers.push_back(dim.constant().value_or(-1));
        sizes.push_back(dim.text());
    }
    if (isClear(shape) && std::count(numbers.begin(), numbers.end(), -1) <= 1)
        return {{"newshape", numbers}};
    return {{"newshape", std::vector<int64_t>{}}, {"sizes", sizes}};
}

bool canBeRows(const Shape& shape) { return shape.back().isConst() && isClear(shape); }

Shape rowsOf(const Shape& shape)
{
    return {product({shape.begin(), shape.end() - 1}), shape.back()};
}

} // namespace tenon::compiler
