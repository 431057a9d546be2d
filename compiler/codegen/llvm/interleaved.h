// SPDX-License-Identifier: Apache-2.0
// interleaved: quads of elements, one from each of four vectors.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <vector>

namespace tenon::compiler {

/// Element i of the result is of quarter i % 4 of `quarters`, four vectors side by side.
inline llvm::Value* interleaved(llvm::IRBuilderBase& builder, llvm::Value* quarters)
{
    constexpr int kQuarters = 4;
    const int count =
        static_cast<int>(llvm::cast<llvm::FixedVectorType>(quarters->getType())->getNumElements());
    std::vector<int> order;
    for (int i = 0; i < count; ++i)
        order.push_back(i % kQuarters * (count / kQuarters) + i / kQuarters);
    return builder.CreateShuffleVector(quarters, order);
}

} // namespace tenon::compiler
