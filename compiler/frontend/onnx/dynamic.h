// SPDX-License-Identifier: Apache-2.0
// Converters of operators whose shape inputs are computed at run time: integers become named sizes.
#pragma once

#include "compiler/frontend/onnx/node_import.h"

namespace tenon::compiler {

/// An operator whose result has these dimensions; "sizes" is added to the attributes.
ValueRef emitSized(NodeImport& node, std::string op, std::vector<ValueRef> operands,
                   const Shape& shape, Attrs attrs = {});
/// Arithmetic on int64 values; numbers broadcast.
ValueRef wholeNumber(NodeImport& node, int64_t value);
/// 0, 1, .. as many as the dimension says, int64.
ValueRef countedTo(NodeImport& node, const Dim& count);
ValueRef reshapedTo(NodeImport& node, ValueRef value, const Shape& shape);
/// The only element of an input as a dimension; fails when it has several.
Dim lengthOf(NodeImport& node, size_t input);

void reshapeAtRunTime(NodeImport& node, bool zeroIsSize);
void expandAtRunTime(NodeImport& node);
/// ConstantOfShape.
void fillAtRunTime(NodeImport& node);
void rangeAtRunTime(NodeImport& node);
/// Slices whose bounds are known up to symbols; false when they are not, or steps are other than 1.
bool sliceBySizes(NodeImport& node, const std::vector<int64_t>& axes,
                  const std::vector<int64_t>& steps);
/// Axes or steps are data, too.
void sliceAlongRunTimeAxes(NodeImport& node);
void splitBySizes(NodeImport& node, int64_t axis, const std::vector<Dim>& sizes);
/// Widths, axes or the value are data.
void padAtRunTime(NodeImport& node);
/// DFT whose axis is data.
void dftAlongRunTimeAxis(NodeImport& node, size_t axisInput);
void stftAtRunTime(NodeImport& node, bool isOneSided);
void melWeightMatrixAtRunTime(NodeImport& node, DataType dtype);
void affineGridAtRunTime(NodeImport& node, bool isAligned);
void centerCropPadAtRunTime(NodeImport& node, const Shape& result);
void col2ImAtRunTime(NodeImport& node);
/// `axes` and `steps` are known, bounds are not.
void sliceAtRunTime(NodeImport& node, const std::vector<int64_t>& axes,
                    const std::vector<int64_t>& steps);

} // namespace tenon::compiler
