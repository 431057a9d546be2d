// SPDX-License-Identifier: Apache-2.0
// Operators that take dimensions known by name.
#include "compiler/frontend/import/sized.h"

namespace tenon::compiler {

ValueRef emitSized(NodeImport& node, std::string op, std::vector<ValueRef> operands,
                   const Shape& shape, Attrs attrs)
{
    std::vector<std::string> sizes;
    for (const Dim& dim : shape) sizes.push_back(dim.text());
    attrs.set("sizes", sizes);
    return node.emit(std::move(op), std::move(operands), std::move(attrs));
}

ValueRef wholeNumber(NodeImport& node, int64_t value) { return node.sizeOf(Dim(value)); }

ValueRef countedTo(NodeImport& node, const Dim& count)
{
    return emitSized(node, "arange", {wholeNumber(node, 0), wholeNumber(node, 1)}, {count});
}

ValueRef sizeLike(NodeImport& node, const Dim& size, ValueRef like)
{
    if (node.hasFailed()) return {};
    const DataType dtype = node.typeOf(like).dtype;
    if (size.isConst()) return node.scalar(static_cast<double>(size.value()), dtype);
    const ValueRef known = node.sizeOf(size);
    return dtype == kInt64 ? known : node.emit("cast", {known}, {{"dtype", dtype}});
}

ValueRef reshapedTo(NodeImport& node, ValueRef value, const Shape& shape)
{
    if (node.hasFailed()) return {};
    Shape known = shape;
    const Shape& own = node.typeOf(value).shape;
    // What the first dimension counts stays independent of each other that way: see itemsOf().
    if (!known.empty() && !known[0].isConst() && !own.empty() && own[0] == known[0])
        known[0] = Dim(0);
    if (const auto constants = constantShape(known))
        return node.emit("reshape", {value}, {{"newshape", *constants}});
    return emitSized(node, "reshape", {value}, shape, {{"newshape", std::vector<int64_t>{}}});
}

} // namespace tenon::compiler
