// SPDX-License-Identifier: Apache-2.0
// Converters of operators whose shape inputs are computed at run time: integers become named sizes.
#pragma once

#include "compiler/frontend/import/resize_axes.h"
#include "compiler/frontend/import/sized.h"
#include "compiler/frontend/onnx/graph/onnx_node.h"

namespace tenon::compiler {

/// The only element of an input as a dimension; fails when it has several.
Dim lengthOf(OnnxNode& node, size_t input);

void reshapeAtRunTime(OnnxNode& node, bool zeroIsSize);
void expandAtRunTime(OnnxNode& node);
/// ConstantOfShape.
void fillAtRunTime(OnnxNode& node);
void rangeAtRunTime(OnnxNode& node);
/// Slices of step 1 whose bounds are known up to symbols; false when their signs are not.
bool sliceBySizes(OnnxNode& node, const std::vector<int64_t>& axes, const Shape& starts,
                  const Shape& ends);
/// Axes or steps are data, too.
void sliceAlongRunTimeAxes(OnnxNode& node);
void splitBySizes(OnnxNode& node, int64_t axis, const std::vector<Dim>& sizes);
/// Widths, axes or the value are data.
void padAtRunTime(OnnxNode& node);
/// DFT whose axis is data.
void dftAlongRunTimeAxis(OnnxNode& node, size_t axisInput);
void stftAtRunTime(OnnxNode& node, bool isOneSided);
void melWeightMatrixAtRunTime(OnnxNode& node, DataType dtype);
void affineGridAtRunTime(OnnxNode& node, bool isAligned);
void centerCropPadAtRunTime(OnnxNode& node, const Shape& result);
void col2ImAtRunTime(OnnxNode& node);
/// `axes` and `steps` are known, bounds are not.
void sliceAtRunTime(OnnxNode& node, const std::vector<int64_t>& axes,
                    const std::vector<int64_t>& steps);

/// Resize with scales, sizes or a region that are data, or of open dimensions. `scales` is the
/// input of these, which sizes may follow; `known` scales, one per dimension, take its place.
void resizeAtRunTime(OnnxNode& node, const Resampling& how, size_t scales,
                     const std::vector<double>& known = {});

} // namespace tenon::compiler
