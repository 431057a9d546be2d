// SPDX-License-Identifier: Apache-2.0
// Operators that go along an axis in order, or turn that around.
#include "compiler/quantize/tflite_operators.h"

#include <limits>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

void TfliteOperators::cumulate()
{
    const std::vector<int64_t> axis = integersAt(1);
    if (axis.size() != 1) return fail("it needs one axis");
    NodeProto& made = node("CumSum", {asGiven(input(0)), integers("axis", axis)}, resultName(false),
                           nameOf(output()));
    setInteger(made, "exclusive", option(0) != 0 ? 1 : 0);
    setInteger(made, "reverse", option(1) != 0 ? 1 : 0);
}

void TfliteOperators::reverse()
{
    const std::vector<int64_t> axes = integersAt(1), last(axes.size(), -1), back(axes.size(), -1),
                               end(axes.size(), std::numeric_limits<int64_t>::min() + 1);
    node("Slice",
         {asGiven(input(0)), integers("begin", last), integers("end", end), integers("axes", axes),
          integers("steps", back)},
         resultName(false), nameOf(output()));
}

void TfliteOperators::reverseSequence()
{
    const int64_t time = axisOf(size(0, 0), rankOf(input(0))),
                  batch = axisOf(size(1, 0), rankOf(input(0)));
    if (time > 1 || batch > 1)
        return fail("its sequences lie along another axis than the first two");
    NodeProto& made =
        node("ReverseSequence", {asGiven(input(0)), longs(1)}, resultName(false), nameOf(output()));
    setInteger(made, "time_axis", time);
    setInteger(made, "batch_axis", batch);
}

} // namespace tenon::compiler
