// SPDX-License-Identifier: Apache-2.0
// The same bytes with some inserted, run by run.
#include "compiler/passes/layout/longer_constant.h"

#include <cstring>
#include <span>
#include <vector>

namespace tenon::compiler {

using namespace core;

namespace {

/// `fill` as an element of the type.
std::vector<std::byte> elementOf(DataType dtype, int fill)
{
    std::vector<std::byte> out(static_cast<size_t>(dtype.bytes()));
    if (dtype.isFloat())
        storeNumber(dtype, out, 0, fill);
    else
        storeInteger(dtype, out, 0, fill);
    return out;
}

} // namespace

Tensor longer(const Tensor& tensor, size_t axis, int64_t more, int fill)
{
    const std::vector<std::byte> element = elementOf(tensor.dtype(), fill);
    std::vector<int64_t> shape = tensor.shape();
    size_t inner = element.size(), runs = 1;
    for (size_t i = 0; i < shape.size(); ++i)
        if (i < axis)
            runs *= static_cast<size_t>(shape[i]);
        else
            inner *= static_cast<size_t>(shape[i]);
    const size_t added = inner / static_cast<size_t>(shape[axis]) * static_cast<size_t>(more);
    shape[axis] += more;
    return Tensor::make(tensor.dtype(), shape, [&](std::span<std::byte> out) {
        std::byte* at = out.data();
        for (size_t run = 0; run < runs; ++run) {
            std::memcpy(at, tensor.bytes().data() + run * inner, inner);
            at += inner;
            for (size_t i = 0; i < added; i += element.size(), at += element.size())
                std::memcpy(at, element.data(), element.size());
        }
    });
}

} // namespace tenon::compiler
