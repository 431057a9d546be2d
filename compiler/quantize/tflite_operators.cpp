// SPDX-License-Identifier: Apache-2.0
// Finding operators by name.
#include "compiler/quantize/tflite_operators.h"

#include <algorithm>

namespace tenon::compiler {

TfliteOperators::Handler TfliteOperators::handlerOf(const TfliteOperator& op)
{
    using Self = TfliteOperators;
    struct Row
    {
        std::string_view name;
        Handler handler;
    };
    static constexpr Row kRows[] = {
#define OPERATOR(name, handler) {name, &Self::handler},
#include "compiler/quantize/tflite_operators.def"
#undef OPERATOR
    };
    const auto found = std::find_if(std::begin(kRows), std::end(kRows),
                                    [&](const Row& row) { return row.name == op.name; });
    return found == std::end(kRows) ? nullptr : found->handler;
}

} // namespace tenon::compiler
