// SPDX-License-Identifier: Apache-2.0
// What normalizes along the last axis.
#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {
namespace {

const Shape32 kShapes[] = {{1, 10}, {3, 17}, {2, 4, 5, 6}};

void addSoftmax(TfliteCases& all)
{
    const std::pair<Numbers, Numbers> kKinds[] = {
        {kFloats, kFloats},
        {kBytes, kBytes.within(0, 255.0 / 256)},
        {kUnsigned, kUnsigned.within(0, 255.0 / 256)},
        {kWide.within(-8, 8), kWide.within(-32767.0 / 32768, 0)}};
    for (const auto& [in, out] : kKinds)
        for (const float beta : {1.0F, 0.5F})
            for (const Shape32& shape : kShapes) {
                CaseBuilder c(all, "SOFTMAX", in.name,
                              shapeText(shape) + " beta " + std::to_string(beta));
                const int x = c.input(in, shape);
                c.op({x}, {c.output(out, shape)}, FlatOut().number(0, beta));
            }
}

void addLogSoftmax(TfliteCases& all)
{
    for (const auto& [in, out] :
         {std::pair{kFloats, kFloats}, std::pair{kBytes, kBytes.within(-255.0 / 16, 0)},
          std::pair{kUnsigned, kUnsigned.within(-255.0 / 16, 0)}})
        for (const Shape32& shape : kShapes) {
            CaseBuilder c(all, "LOG_SOFTMAX", in.name, shapeText(shape));
            const int x = c.input(in, shape);
            c.op({x}, {c.output(out, shape)});
        }
}

void addLengths(TfliteCases& all)
{
    for (const auto& [in, out] :
         {std::pair{kFloats, kFloats}, std::pair{kBytes, kBytes.within(-1, 127.0 / 128)},
          std::pair{kUnsigned, kUnsigned.within(-1, 127.0 / 128)}})
        for (const Shape32& shape : kShapes) {
            CaseBuilder c(all, "L2_NORMALIZATION", in.name, shapeText(shape));
            const int x = c.input(in, shape);
            c.op({x}, {c.output(out, shape)}, FlatOut().number(0, int8_t{0}));
        }
    for (const int32_t radius : {1, 2}) {
        CaseBuilder c(all, "LOCAL_RESPONSE_NORMALIZATION", "float32",
                      "radius " + std::to_string(radius));
        const int x = c.input(kFloats, {1, 3, 4, 9});
        c.op({x}, {c.output(kFloats, {1, 3, 4, 9})},
             FlatOut().number(0, radius).number(1, 1.5F).number(2, 0.3F).number(3, 0.75F));
    }
}

} // namespace

void addNormalizeCases(TfliteCases& all)
{
    addSoftmax(all);
    addLogSoftmax(all);
    addLengths(all);
}

} // namespace tenon::test
