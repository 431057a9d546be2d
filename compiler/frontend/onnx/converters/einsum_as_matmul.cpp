// SPDX-License-Identifier: Apache-2.0
// Letters of both factors and the result count products of matrices; those of both that the result
// lacks are summed by them; the others are rows of the left or columns of the right matrix.
#include "compiler/frontend/onnx/converters/einsum_as_matmul.h"

#include "compiler/ops/shape_attrs.h"
#include "core/tensor/dim_bounds.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

bool has(const std::string& letters, char letter)
{
    return letters.find(letter) != std::string::npos;
}

bool standOnce(const std::string& letters)
{
    return std::all_of(letters.begin(), letters.end(), [&](char letter) {
        return std::count(letters.begin(), letters.end(), letter) == 1;
    });
}

class Product
{
public:
    Product(OnnxNode& node, std::string result)
        : m_node(node)
        , m_result(std::move(result))
    {
    }

    std::optional<ValueRef> of(EinsumFactor a, EinsumFactor b)
    {
        if (!take(a) || !take(b) || !standOnce(m_result)) return std::nullopt;
        for (const char letter : a.letters) {
            if (!has(b.letters, letter)) continue;
            (has(m_result, letter) ? m_batch : m_summed) += letter;
        }
        if (m_summed.empty()) return std::nullopt;
        withoutUnused(a, b.letters);
        withoutUnused(b, a.letters);
        const std::string rows = ownLetters(a, b), columns = ownLetters(b, a);
        const bool isConstant = m_batch.empty() && isWeight(b.value);
        const ValueRef left = matrices(a, rows, m_summed);
        ValueRef matrix;
        if (isConstant)
            matrix = m_node.emit("nn.dense", {left, matrices(b, columns, m_summed)});
        else
            matrix = m_node.emit("nn.matmul", {left, matrices(b, m_summed, columns)},
                                 {{"transpose_a", int64_t{0}}, {"transpose_b", int64_t{0}}});
        const std::string order = m_batch + rows + columns;
        return transposed(reshaped(matrix, sizesOf(order)), order, m_result);
    }

private:
    /// Notes the sizes; false where they are none or differ from those of the same letter, which
    /// may be 1 in one of two open ones.
    bool take(const EinsumFactor& factor)
    {
        const TensorType& type = m_node.typeOf(factor.value);
        const Shape& shape = type.shape;
        if (m_node.hasFailed() || shape.size() != factor.letters.size() ||
            !standOnce(factor.letters) || type.dtype.isBool())
            return false;
        for (size_t i = 0; i < shape.size(); ++i) {
            const bool isEmpty = shape[i].isConst() && shape[i].value() < 1;
            const auto known = m_sizes.try_emplace(factor.letters[i], shape[i]).first;
            if (isEmpty || !(known->second == shape[i])) return false;
            m_isOpen = m_isOpen || !shape[i].isConst();
        }
        return true;
    }

    /// Letters that nothing else has are summed first.
    void withoutUnused(EinsumFactor& factor, const std::string& other)
    {
        std::vector<int64_t> axes;
        std::string kept;
        for (size_t i = 0; i < factor.letters.size(); ++i) {
            const char letter = factor.letters[i];
            if (has(other, letter) || has(m_result, letter))
                kept += letter;
            else
                axes.push_back(static_cast<int64_t>(i));
        }
        if (axes.empty()) return;
        factor.value = m_node.emit("sum", {factor.value}, {{"axis", axes}});
        factor.letters = kept;
    }

    static std::string ownLetters(const EinsumFactor& factor, const EinsumFactor& other)
    {
        std::string out;
        for (const char letter : factor.letters)
            if (!has(other.letters, letter)) out += letter;
        return out;
    }

    bool isWeight(ValueRef value) const
    {
        for (size_t i = 0; i < m_node.inputCount(); ++i)
            if (m_node.input(i) == value) return m_node.constant(i) != nullptr;
        return false;
    }

    Shape sizesOf(const std::string& letters) const
    {
        Shape out;
        for (const char letter : letters) out.push_back(m_sizes.at(letter));
        return out;
    }

    ValueRef reshaped(ValueRef value, const Shape& shape)
    {
        if (m_node.hasFailed() || m_node.typeOf(value).shape == shape) return value;
        return m_node.emit("reshape", {value}, shapeAttrs(shape));
    }

    ValueRef transposed(ValueRef value, const std::string& from, const std::string& to)
    {
        std::vector<int64_t> axes;
        for (const char letter : to) axes.push_back(static_cast<int64_t>(from.find(letter)));
        if (std::is_sorted(axes.begin(), axes.end())) return value;
        return m_node.emit("transpose", {value}, {{"axes", std::move(axes)}});
    }

    /// [batch, rows, columns], or [rows, columns] where nothing is counted. What counts open
    /// matrices keeps its axes: items stay apart.
    ValueRef matrices(const EinsumFactor& factor, const std::string& rows,
                      const std::string& columns)
    {
        const ValueRef ordered = transposed(factor.value, factor.letters, m_batch + rows + columns);
        Shape shape = sizesOf(m_batch);
        if (!m_batch.empty() && !m_isOpen) shape = {product(shape)};
        shape.push_back(product(sizesOf(rows)));
        shape.push_back(product(sizesOf(columns)));
        return reshaped(ordered, shape);
    }

    OnnxNode& m_node;
    std::string m_result, m_batch, m_summed;
    std::map<char, Dim> m_sizes;
    bool m_isOpen = false; ///< some of them
};

} // namespace

std::optional<ValueRef> einsumAsMatmul(OnnxNode& node, const EinsumFactor& a, const EinsumFactor& b,
                                       const std::string& result)
{
    return Product(node, result).of(a, b);
}

} // namespace tenon::compiler
