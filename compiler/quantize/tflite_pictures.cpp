// SPDX-License-Identifier: Apache-2.0
// Operators that make pictures larger or smaller.
#include "compiler/quantize/tflite_operators.h"

namespace tenon::compiler {

using tenon_onnx::NodeProto;

void TfliteOperators::blocksToSpace()
{
    if (!needRank(input(0), 4)) return;
    const bool isWider = m_op->name == "DEPTH_TO_SPACE";
    setInteger(node(isWider ? "DepthToSpace" : "SpaceToDepth", {asPlanes(input(0))},
                    resultName(true), nameOf(output())),
               "blocksize", size(0));
}

void TfliteOperators::resize(const Resizing& how)
{
    if (!needRank(input(0), 4) || !needRank(output(), 4)) return;
    const std::vector<int64_t>& shape = tensor(output()).shape;
    NodeProto& made =
        node("Resize",
             {asPlanes(input(0)), "", "",
              integers("sizes", {shape.at(0), shape.at(3), shape.at(1), shape.at(2)})},
             resultName(true), nameOf(output()));
    const bool isNearest = how.mode == "nearest";
    setString(made, "mode", how.mode);
    setString(made, "coordinate_transformation_mode",
              how.keepsCorners    ? "align_corners"
              : !how.keepsCentres ? "asymmetric"
              : isNearest         ? "tf_half_pixel_for_nn"
                                  : "half_pixel");
    if (isNearest)
        setString(made, "nearest_mode", how.keepsCorners ? "round_prefer_ceil" : "floor");
}

void TfliteOperators::resizeBilinear()
{
    resize({.mode = "linear", .keepsCorners = option(2) != 0, .keepsCentres = option(3) != 0});
}

void TfliteOperators::resizeNearest()
{
    resize({.mode = "nearest", .keepsCorners = option(0) != 0, .keepsCentres = option(1) != 0});
}

} // namespace tenon::compiler
