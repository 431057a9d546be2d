// SPDX-License-Identifier: Apache-2.0
// Options and bits of whole numbers for the Signal.. operators.
#include "compiler/frontend/tflite/converters/signal.h"

#include "compiler/frontend/tflite/file/flexbuffer.h"

#include <cmath>

namespace tenon::compiler {

int64_t signalOption(TfliteNode& node, const char* name, int64_t low, int64_t high)
{
    if (node.hasFailed()) return low;
    const auto numbers = flexNumbers(node.file().customOptions);
    const auto found =
        numbers ? numbers->find(name) : std::map<std::string, double>::const_iterator();
    const bool isThere = numbers && found != numbers->end();
    const double value = isThere ? found->second : 0;
    const bool isFit = isThere && value >= static_cast<double>(low) &&
                       value <= static_cast<double>(high) && value == std::floor(value);
    if (isFit) return static_cast<int64_t>(value);
    node.fail(DiagnosticCode::BadAttribute,
              "its option `" + std::string(name) + "` is to be a whole number from " +
                  std::to_string(low) + " to " + std::to_string(high));
    return low;
}

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
