// SPDX-License-Identifier: Apache-2.0
// Everything that says the count's name is found, or nothing changes.
#include "compiler/passes/filled_rows.h"

#include "compiler/ops/shape_attrs.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

class FilledRows
{
public:
    FilledRows(const Module& module, const GraphFunction& function, const UseIndex& uses,
               const NodeRecord& bind)
        : m_module(module)
        , m_function(function)
        , m_uses(uses)
        , m_bind(bind)
        , m_count(bind.operands.at(0))
        , m_rows{m_count.node, 0}
    {
    }

    std::optional<Patch> patch()
    {
        const std::vector<std::string> names = m_bind.attrs.strings("names", {});
        if (m_count.index != 1 || names.size() != 1 || m_uses.isResult(m_bind.id) ||
            !m_uses.users(m_bind.id).empty() || openFunctions(m_module).size() != 1)
            return std::nullopt;
        m_name = names[0];
        m_from.push_back(m_bind.id);
        for (const NodeId id : m_function.order)
            if (id != m_bind.id && isNamedBy(m_module.node(id)) && !take(m_module.node(id)))
                return std::nullopt;
        return write();
    }

private:
    bool isIn(const Dim& dim) const
    {
        const std::vector<std::string> symbols = dim.symbols();
        return std::any_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
            return symbol.find(m_name) != std::string::npos; // of a quotient, it is within its text
        });
    }
    /// In its shapes, or in those that its attributes say.
    bool isNamedBy(const NodeRecord& node) const
    {
        for (const TensorType& type : node.types)
            for (const Dim& dim : type.shape)
                if (isIn(dim)) return true;
        const std::vector<std::string> sizes = node.attrs.strings("sizes", {});
        return std::any_of(sizes.begin(), sizes.end(), [&](const std::string& text) {
            return text.find(m_name) != std::string::npos;
        });
    }

    bool take(const NodeRecord& node)
    {
        m_from.push_back(node.id);
        const std::vector<std::string> sizes = node.attrs.strings("sizes", {});
        if (isOp(node, sizesOp)) {
            m_sizes.push_back(&node);
            return sizes == std::vector<std::string>{m_name} && !m_uses.isResult(node.id);
        }
        if (isOp(node, dynamicSliceOp)) {
            m_slices.push_back(&node);
            return isFirstRows(node);
        }
        m_joins.push_back(&node);
        return isOp(node, concatenateOp) && isFilled(node);
    }

    /// Which nothing but what joins them reads: a sum of them has no open shape, yet counts them.
    bool isFirstRows(const NodeRecord& slice) const
    {
        const auto& readers = m_uses.users(slice.id);
        if (!std::all_of(readers.begin(), readers.end(),
                         [&](NodeId id) { return isOp(m_module.node(id), concatenateOp); }))
            return false;
        return slice.operands[0] == m_rows && scalarOf(m_module, slice.operands[1]) == 0.0 &&
               slice.attrs.integers("axes", {}) == std::vector<int64_t>{0} &&
               slice.attrs.integers("strides", {}) == std::vector<int64_t>{1} &&
               !m_uses.isResult(slice.id);
    }

    /// Rows and then zeros, of which no more than there are zeros are read.
    bool isFilled(const NodeRecord& joined) const
    {
        if (joined.operands.size() != 2 || joined.attrs.integer("axis", 0) != 0 ||
            m_uses.isResult(joined.id))
            return false;
        const bool isSlice =
            std::any_of(m_slices.begin(), m_slices.end(), [&](const NodeRecord* slice) {
                return joined.operands[0] == ValueRef{slice->id, 0};
            });
        const Tensor* zeros = constantOf(m_module, joined.operands[1]);
        if (!isSlice || !zeros || zeros->shape().size() != 2) return false;
        for (int64_t i = 0; i < zeros->size(); ++i)
            if (zeros->integer(i) != 0) return false;
        const auto& readers = m_uses.users(joined.id);
        return std::all_of(readers.begin(), readers.end(), [&](NodeId id) {
            return isWithin(m_module.node(id), joined, zeros->shape()[0]);
        });
    }

    bool isWithin(const NodeRecord& reader, const NodeRecord& joined, int64_t count) const
    {
        if (!isOp(reader, takeOp) || reader.operands[0].node != joined.id ||
            reader.attrs.integer("axis", 0) != 0)
            return false;
        const Tensor* places = constantOf(m_module, reader.operands[1]);
        for (int64_t i = 0; places && i < places->size(); ++i)
            if (places->integer(i) < 0 || places->integer(i) >= count) return false;
        return places != nullptr;
    }

    std::optional<Patch> write() const
    {
        PatchWriter patch(m_module, m_function.id, "keep-filled-rows",
                          "rows behind the count are the zeros that would fill them up", m_from);
        for (const NodeRecord* sizes : m_sizes) {
            NodeRecord value = *sizes;
            value.op = reshapeOp.name;
            value.operands = {m_count};
            value.attrs = shapeAttrs(sizes->types.at(0).shape);
            patch.change(std::move(value));
        }
        for (const NodeRecord* joined : m_joins) {
            NodeRecord filled = *joined;
            filled.operands[0] = m_rows;
            filled.types.clear();
            patch.change(std::move(filled));
        }
        for (const NodeRecord* slice : m_slices) patch.replaceAndErase(slice->id, m_rows);
        patch.erase(m_bind.id);
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    const UseIndex& m_uses;
    const NodeRecord& m_bind;
    ValueRef m_count, m_rows;
    std::string m_name;
    std::vector<NodeId> m_from;
    std::vector<const NodeRecord*> m_sizes, m_slices, m_joins;
};

} // namespace

std::optional<Patch> keepFilledRows(const Module& module, const GraphFunction& function,
                                    const UseIndex& uses, const NodeRecord& node)
{
    if (!isOp(node, bindDimsOp) || node.operands.empty()) return std::nullopt;
    if (!isOp(module.node(node.operands[0].node), nonMaxSuppressionOp)) return std::nullopt;
    return FilledRows(module, function, uses, node).patch();
}

} // namespace tenon::compiler
