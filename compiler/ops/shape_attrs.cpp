// SPDX-License-Identifier: Apache-2.0
// Numbers where there are any; text of what is open.
#include "compiler/ops/shape_attrs.h"

#include <algorithm>

namespace tenon::compiler {

Attrs shapeAttrs(const Shape& shape)
{
    std::vector<int64_t> numbers;
    std::vector<std::string> sizes;
    for (const Dim& dim : shape) {
        numbers.push_back(dim.constant().value_or(-1));
        sizes.push_back(dim.text());
    }
    const bool isClear =
        constantShape(shape) || std::count(shape.begin(), shape.end(), Dim(0)) == 0;
    if (isClear && std::count(numbers.begin(), numbers.end(), -1) <= 1)
        return {{"newshape", numbers}};
    return {{"newshape", std::vector<int64_t>{}}, {"sizes", sizes}};
}

bool canBeRows(const Shape& shape)
{
    return constantShape(shape) ||
           (shape.back().isConst() && std::count(shape.begin(), shape.end(), Dim(0)) == 0);
}

Shape rowsOf(const Shape& shape)
{
    Dim rows(1);
    for (size_t i = 0; i + 1 < shape.size(); ++i) rows = rows * shape[i];
    return {rows, shape.back()};
}

} // namespace tenon::compiler
