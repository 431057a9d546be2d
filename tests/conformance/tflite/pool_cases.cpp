// SPDX-License-Identifier: Apache-2.0
// Pools and resizes.
#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {
namespace {

struct Pool
{
    Shape32 data, out;
    int32_t height, width, strideH, strideW;
    int8_t padding; ///< 0: SAME
};

const Pool kPools[] = {{{1, 6, 7, 3}, {1, 3, 4, 3}, 2, 2, 2, 2, 0},
                       {{2, 6, 7, 5}, {2, 5, 5, 5}, 2, 3, 1, 1, 1},
                       {{1, 9, 8, 8}, {1, 9, 8, 8}, 3, 3, 1, 1, 0},
                       {{1, 7, 7, 16}, {1, 1, 1, 16}, 7, 7, 1, 1, 1},
                       {{1, 11, 5, 4}, {1, 4, 3, 4}, 3, 3, 3, 2, 0}};

void addPool(TfliteCases& all, const char* op, const Numbers& kind, const Activation& activation)
{
    for (const Pool& p : kPools) {
        CaseBuilder c(all, op, kind.name,
                      shapeText(p.data) + " by " + std::to_string(p.height) + "x" +
                          std::to_string(p.width) + (p.padding ? " VALID" : " SAME") +
                          activation.name);
        const int x = c.input(kind, p.data);
        c.op({x}, {c.output(kind, p.out)},
             FlatOut()
                 .number(0, p.padding)
                 .number(1, p.strideW)
                 .number(2, p.strideH)
                 .number(3, p.width)
                 .number(4, p.height)
                 .number(5, activation.code));
    }
}

struct Resize
{
    Shape32 data;
    int32_t height, width;
};

const Resize kResizes[] = {{{1, 4, 5, 3}, 8, 10}, {{2, 7, 6, 2}, 3, 4}, {{1, 5, 3, 4}, 7, 11}};

void addResizes(TfliteCases& all, const char* op, int cornersField, const Numbers& kind)
{
    for (const Resize& r : kResizes)
        for (const auto& [corners, half, name] :
             {std::tuple{uint8_t{0}, uint8_t{0}, ""},
              {uint8_t{1}, uint8_t{0}, " align_corners"},
              {uint8_t{0}, uint8_t{1}, " half_pixel_centers"}}) {
            const Shape32 out{r.data[0], r.height, r.width, r.data[3]};
            CaseBuilder c(all, op, kind.name, shapeText(r.data) + " to " + shapeText(out) + name);
            const int x = c.input(kind, r.data), size = c.integers({r.height, r.width});
            c.op({x, size}, {c.output(kind, out)},
                 FlatOut().number(cornersField, corners).number(cornersField + 1, half));
        }
}

} // namespace

void addPoolCases(TfliteCases& all)
{
    for (const Numbers& kind : {kFloats, kBytes, kUnsigned, kWide})
        for (const Activation& activation : {kNoActivation, kRelu, kRelu6, kReluN1})
            for (const char* op : {"AVERAGE_POOL_2D", "MAX_POOL_2D"})
                addPool(all, op, kind, activation);
    addPool(all, "L2_POOL_2D", kFloats, kNoActivation);
    addPool(all, "L2_POOL_2D", kFloats, kRelu);
    for (const Numbers& kind : {kFloats, kBytes, kUnsigned, kWide}) {
        addResizes(all, "RESIZE_BILINEAR", 2, kind);
        addResizes(all, "RESIZE_NEAREST_NEIGHBOR", 0, kind);
    }
}

} // namespace tenon::test
