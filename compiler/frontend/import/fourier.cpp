// SPDX-License-Identifier: Apache-2.0
// The matrices of a discrete Fourier transform, and the products with them.
#include "compiler/frontend/import/fourier.h"

#include "compiler/frontend/import/sized.h"
#include "core/tensor/dim_products.h"

#include <cmath>

namespace tenon::compiler {
namespace {

constexpr double kPi = 3.14159265358979323846;
/// Matrices of a longer transform would take more memory than the transform is worth.
constexpr int64_t kMaxLength = 4096;

} // namespace

Fourier::Fourier(NodeImport& node, Dim length, Direction direction, bool isOneSided)
    : m_node(node)
    , f(node)
    , m_length(std::move(length))
    , m_isInverse(direction == Direction::Inverse)
    , m_isOneSided(isOneSided)
{
    if (m_length.isConst() && (m_length.value() < 1 || m_length.value() > kMaxLength))
        node.fail(DiagnosticCode::UnsupportedFeature, "transforms of length " + m_length.text() +
                                                          " are not supported; lengths up to " +
                                                          std::to_string(kMaxLength) + " are");
}

ValueRef Fourier::transform(ValueRef x)
{
    if (m_node.hasFailed()) return {};
    Shape shape = m_node.typeOf(x).shape;
    const auto last = static_cast<int64_t>(shape.size()) - 1;
    const bool isReal = m_isInverse && m_isOneSided;
    Dim& extent = shape[static_cast<size_t>(last - 1)];
    const Dim most = isReal ? floorDiv(m_length, Dim(2)) + Dim(1) : m_length;
    const Dim used = minimum(extent, most);
    if (used != extent) {
        extent = used;
        x = emitSized(
            m_node, "dynamic_slice", {x, m_node.sizesOf({Dim(0)})}, shape,
            {{"axes", std::vector<int64_t>{last - 1}}, {"strides", std::vector<int64_t>{1}}});
    }
    const ValueRef real = f.squeeze(f.slice(x, last, 0, 1), {last});
    const ValueRef cosine = matrix(used, false), sine = matrix(used, true);
    ValueRef outReal = f.matmul(real, cosine);
    ValueRef outImaginary = f.matmul(real, sine);
    if (shape.back() == Dim(2)) {
        const ValueRef imaginary = f.squeeze(f.slice(x, last, 1, 2), {last});
        outReal = f.subtract(outReal, f.matmul(imaginary, sine));
        outImaginary = f.add(outImaginary, f.matmul(imaginary, cosine));
    }
    if (isReal) return f.expand(outReal, last);
    return f.concat({f.expand(outReal, last), f.expand(outImaginary, last)}, last);
}

/// cos or sin of +-2 pi n k / N; the inverse carries 1 / N. A one-sided spectrum stands for its
/// mirrored half too, so all but its first and middle line count twice.
ValueRef Fourier::matrix(const Dim& rows, bool isSine)
{
    if (m_node.hasFailed()) return {};
    const bool isHalf = m_isOneSided && !m_isInverse;
    const Dim columns = isHalf ? floorDiv(m_length, Dim(2)) + Dim(1) : m_length;
    if (rows.isConst() && columns.isConst() && m_length.isConst())
        return constantMatrix(rows.value(), columns.value(), isSine);
    return computedMatrix(rows, columns, isSine);
}

ValueRef Fourier::constantMatrix(int64_t rows, int64_t columns, bool isSine)
{
    const int64_t length = m_length.value();
    std::vector<double> values;
    for (int64_t n = 0; n < rows; ++n)
        for (int64_t k = 0; k < columns; ++k) {
            const double angle =
                2 * kPi * static_cast<double>(n * k % length) / static_cast<double>(length);
            double value = isSine ? (m_isInverse ? 1 : -1) * std::sin(angle) : std::cos(angle);
            if (m_isInverse) value /= static_cast<double>(length);
            if (m_isInverse && m_isOneSided && n != 0 && 2 * n != length) value *= 2;
            values.push_back(value);
        }
    return f.numbers(values, {rows, columns}, m_node.type(0).dtype);
}

ValueRef Fourier::computedMatrix(const Dim& rows, const Dim& columns, bool isSine)
{
    const ValueRef n = f.expand(countedTo(m_node, rows), 1), k = countedTo(m_node, columns);
    const ValueRef length = m_node.sizeOf(m_length), period = f.cast(length, kFloat64);
    const ValueRef turns = f.cast(f.call("floor_mod", {f.multiply(n, k), length}), kFloat64);
    const ValueRef angle = f.divide(f.multiply(turns, 2 * kPi), period);
    ValueRef value = f.apply(isSine ? "sin" : "cos", angle);
    if (isSine && !m_isInverse) value = f.apply("negative", value);
    if (m_isInverse) value = f.divide(value, period);
    if (m_isInverse && m_isOneSided) {
        const ValueRef isSingle = f.call(
            "logical_or", {f.compare("equal", n, 0), f.call("equal", {f.add(n, n), length})});
        value = f.where(isSingle, value, f.multiply(value, 2.0));
    }
    return f.cast(value, m_node.type(0).dtype);
}

} // namespace tenon::compiler
