// SPDX-License-Identifier: Apache-2.0
// tile: two loops are split and the tiles' inner loops go inside.
#include "compiler/schedule/tree.h"

namespace tenon::compiler {

Result<std::vector<std::string>> Primitives::tile(std::string x, std::string y, int64_t xFactor,
                                                  int64_t yFactor)
{
    // Recorded as the primitives it is made of.
    const Primitives before = *this;
    const auto undo = [&](const Diagnostic& error) {
        *this = before;
        return error;
    };
    const auto outerInnerX = split(x, {-1, xFactor});
    if (!outerInnerX) return outerInnerX.error();
    const auto outerInnerY = split(y, {-1, yFactor});
    if (!outerInnerY) return undo(outerInnerY.error());
    std::vector<std::string> order{(*outerInnerX)[0], (*outerInnerY)[0], (*outerInnerX)[1],
                                   (*outerInnerY)[1]};
    if (const Status status = reorder(order); !status) return undo(status.error());
    return order;
}

} // namespace tenon::compiler
