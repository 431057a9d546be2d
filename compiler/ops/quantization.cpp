// SPDX-License-Identifier: Apache-2.0
// Shapes of quantization parameters and saturation.
#include "compiler/ops/quantization.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;

bool isOneElement(const Shape& shape)
{
    return std::all_of(shape.begin(), shape.end(), [](const Dim& d) { return d == Dim(1); });
}

Status checkBlocks(const OpView& op, const QuantizationSpec& spec)
{
    const Shape& data = op.operands[0].shape;
    const Shape& scale = op.operands[spec.scale].shape;
    for (size_t i = 0; i < data.size(); ++i) {
        const bool isBlocked = static_cast<int64_t>(i) == spec.axis;
        const Dim wanted =
            isBlocked ? floorDiv(data[i] + Dim(spec.blockSize - 1), Dim(spec.blockSize)) : data[i];
        if (!(scale[i] == wanted))
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "has blocks of " + std::to_string(spec.blockSize) + " along axis " +
                               std::to_string(spec.axis) + " of " + op.operands[0].text() +
                               " but scales of shape " + shapeText(scale));
    }
    return kDone;
}

Status checkShapes(const OpView& op, const QuantizationSpec& spec)
{
    const Shape& data = op.operands[0].shape;
    const Shape& scale = op.operands[spec.scale].shape;
    if (op.isPresent(spec.zeroPoint) && op.operands[spec.zeroPoint].shape != scale &&
        !(isOneElement(op.operands[spec.zeroPoint].shape) && isOneElement(scale)))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "has scales of shape " + shapeText(scale) + " but zero points of shape " +
                           shapeText(op.operands[spec.zeroPoint].shape));
    if (isOneElement(scale)) return kDone;
    if (spec.blockSize > 0 && scale.size() == data.size()) return checkBlocks(op, spec);
    if (scale.size() == 1 && scale[0] == data[static_cast<size_t>(spec.axis)]) return kDone;
    return opError(op, DiagnosticCode::ShapeMismatch,
                   "has scales of shape " + shapeText(scale) + " for " + op.operands[0].text() +
                       "; one, one per element of the axis, or one per block is needed");
}

} // namespace

bool isQuantizedType(DataType dtype)
{
    return dtype.isInt() && !dtype.isBool() && dtype.bits <= 32;
}

Result<QuantizationSpec> readQuantization(const OpView& op, size_t scale, size_t zeroPoint,
                                          DataType zeroPointType)
{
    QuantizationSpec spec{scale, zeroPoint, 0, intAttr(op, "block_size")};
    if (!op.operands[scale].dtype.isFloat())
        return opError(op, DiagnosticCode::DtypeMismatch,
                       "expects scales of floats but they are " + op.operands[scale].text());
    if (op.isPresent(zeroPoint) && op.operands[zeroPoint].dtype != zeroPointType)
        return opError(op, DiagnosticCode::DtypeMismatch,
                       "has zero points of " + op.operands[zeroPoint].dtype.text() +
                           " for values of " + zeroPointType.text());
    if (spec.blockSize < 0)
        return opError(op, DiagnosticCode::BadAttribute,
                       "block_size is " + std::to_string(spec.blockSize) +
                           "; it must be 0 or more");
    const Shape& scales = op.operands[scale].shape;
    if (!isOneElement(scales)) {
        const auto axis = normalAxis(op, intAttr(op, "axis"), op.operands[0].shape.size());
        if (!axis) return axis.error();
        spec.axis = *axis;
    }
    if (const Status ok = checkShapes(op, spec); !ok) return ok.error();
    return spec;
}

Expr parameterAt(const QuantizationSpec& spec, const te::TensorRef& of, const Exprs& indices)
{
    const Exprs& shape = of->shape();
    Exprs at(shape.size(), Expr(0));
    const auto axis = static_cast<size_t>(spec.axis);
    if (shape.size() == 1 && !shape[0].isConstInt(1)) at[0] = indices[axis];
    if (shape.size() > 1 && spec.blockSize > 0 && shape.size() == indices.size()) {
        at = indices;
        at[axis] = floorDiv(indices[axis], Expr(spec.blockSize));
    }
    return te::at(of, std::move(at));
}

Expr saturated(const Expr& whole, DataType dtype)
{
    // 2^31 is the first float an int32 cannot hold; every bound of fewer bits is a float itself.
    const double low = static_cast<double>(tir::lowestOf(dtype)->integer);
    const double top = static_cast<double>(tir::highestOf(dtype)->integer);
    const double high = dtype.bits < 32 ? top : dtype.isSigned() ? 2147483520.0 : 4294967040.0;
    return tir::cast(dtype, minimum(maximum(whole, tir::floatImm(low, whole->dtype)),
                                    tir::floatImm(high, whole->dtype)));
}

Expr limited(const Expr& value, const IntegerRange& range)
{
    const int64_t bottom = tir::lowestOf(range.dtype)->integer;
    const int64_t top = tir::highestOf(range.dtype)->integer;
    const Expr least = tir::intImm(std::max(range.low, bottom), kInt32);
    const Expr most = tir::intImm(std::min(range.high, top), kInt32);
    return tir::cast(range.dtype, minimum(maximum(value, least), most));
}

Expr requantized(const Expr& value, const Expr& zeroPoint, const IntegerRange& range)
{
    Expr whole = tir::call(tir::Intrinsic::Round, value);
    // The sum of a saturated value and a zero point cannot leave 32 bits.
    constexpr double kFar = 1 << 30;
    if (!range.isNear)
        whole = minimum(maximum(whole, tir::floatImm(-kFar, whole->dtype)),
                        tir::floatImm(kFar, whole->dtype));
    return limited(tir::cast(kInt32, whole) + zeroPoint, range);
}

} // namespace tenon::compiler
