// SPDX-License-Identifier: Apache-2.0
// Bits of whole numbers for the Signal.. operators.
#include "compiler/frontend/tflite/converters/signal.h"

namespace tenon::compiler {

ValueRef WholeFormula::shiftRight(ValueRef value, int64_t bits)
{
    if (bits == 0) return value;
    return bits > 0 ? shiftRight(value, whole(bits)) : shiftLeft(value, whole(-bits));
}

ValueRef WholeFormula::highestBit(ValueRef value)
{
    std::vector<int64_t> powers;
    for (int bit = 0; bit < 32; ++bit) powers.push_back(int64_t{1} << bit);
    const ValueRef reached =
        holds("greater_equal", expand(value, rank(value)), integers(powers, {32}));
    return reduce("sum", reached, {rank(reached) - 1}, Keep::No);
}

} // namespace tenon::compiler
