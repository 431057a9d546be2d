// SPDX-License-Identifier: Apache-2.0
// By shapes and attributes.
#include "compiler/passes/layout/open_images.h"

#include "compiler/ops/shapes.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {

bool isOpenImage(const TensorType& type)
{
    constexpr std::array kDtypes{kFloat32, kInt8, kUInt8, kInt32};
    return std::find(kDtypes.begin(), kDtypes.end(), type.dtype) != kDtypes.end() &&
           type.shape.size() == kImageRank && type.shape[1].isConst() &&
           !(type.shape[2].isConst() && type.shape[3].isConst());
}

bool isPointwise(const NodeRecord& node, const std::vector<int64_t>& weight)
{
    const std::vector<int64_t> ones{1, 1}, none(4, 0);
    return weight[2] == 1 && weight[3] == 1 && node.attrs.integers("strides", ones) == ones &&
           node.attrs.integers("padding", none) == none;
}

bool isByChannel(const Module& module, ValueRef value)
{
    if (!value.node.isValid()) return true; // left out
    const auto shape = constantShape(module.type(value).shape);
    if (!shape) return false;
    const size_t rank = shape->size();
    const auto extent = [&](size_t fromEnd) {
        return fromEnd <= rank ? (*shape)[rank - fromEnd] : 1;
    };
    return rank <= kImageRank && extent(1) == 1 && extent(2) == 1 && extent(4) == 1;
}

} // namespace tenon::compiler
