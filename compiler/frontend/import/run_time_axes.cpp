// SPDX-License-Identifier: Apache-2.0
// Masks over axes, and the sizes that they make.
#include "compiler/frontend/import/run_time_axes.h"

#include "compiler/frontend/import/sized.h"

namespace tenon::compiler {

RunTimeAxes::RunTimeAxes(NodeImport& node, ValueRef axes, int64_t rank, Empty empty)
    : m_node(node)
    , f(node)
    , m_rank(rank)
{
    if (node.hasFailed()) return;
    axes = f.cast(axes, kInt64);
    if (f.rank(axes) == 0) axes = f.expand(axes, 0);
    if (f.rank(axes) != 1) node.fail(DiagnosticCode::ShapeMismatch, "the axes must be a list");
    if (node.hasFailed()) return;
    m_count = node.typeOf(axes).shape[0];
    const ValueRef counted =
        f.where(f.compare("less", axes, 0), f.add(axes, static_cast<double>(rank)), axes);
    m_matches = f.call("equal", {f.expand(counted, 0), f.iota(rank, 0, 2)});
    m_isNamed = f.reduce("any", m_matches, {1}, Formula::Keep::No);
    if (empty == Empty::None || m_count.isConst()) return;
    const ValueRef isEmpty = f.compare("equal", node.sizeOf(m_count), 0);
    m_isNamed = f.call("logical_or", {m_isNamed, isEmpty});
}

ValueRef RunTimeAxes::reduce(const std::string& op, ValueRef x)
{
    if (m_node.hasFailed()) return {};
    const Shape shape = m_node.typeOf(x).shape;
    const ValueRef sizes = m_node.sizesOf(shape);
    const ValueRef one = wholeNumber(m_node, 1);
    Shape all = m_node.boundDims(f.where(m_isNamed, one, sizes));
    const Shape steps = m_node.boundDims(f.where(m_isNamed, sizes, one));
    if (m_node.hasFailed()) return {};
    all.insert(all.end(), steps.begin(), steps.end());
    const bool isMean = op == "mean";
    const ValueRef out = emitSized(m_node, "dynamic_reduce", {x}, all,
                                   {{"combiner", isMean ? std::string("sum") : op}});
    if (!isMean) return out;
    Dim count(1);
    for (const Dim& step : steps) count = count * step;
    return f.divide(out, f.cast(m_node.sizeOf(count), f.dtype(x)));
}

/// For each dimension, how many before it are none of the axes.
ValueRef RunTimeAxes::keptBefore()
{
    const ValueRef isKept = f.cast(f.apply("logical_not", m_isNamed), kInt64);
    return f.subtract(f.call("cumsum", {isKept}, {{"axis", int64_t{0}}}), isKept);
}

ValueRef RunTimeAxes::squeeze(ValueRef x)
{
    if (m_node.hasFailed()) return {};
    if (!m_count.isConst()) {
        m_node.fail(DiagnosticCode::DynamicShape,
                    "nobody knows how many axes there are: " + m_count.text());
        return {};
    }
    const int64_t left = m_rank - m_count.value();
    if (left <= 0) return f.reshape(x, {});
    // Row r chooses the dimension that r kept ones stand before.
    const ValueRef isHere = f.call("equal", {f.expand(keptBefore(), 0), f.iota(left, 0, 2)});
    const ValueRef isChosen = f.both(isHere, f.expand(f.apply("logical_not", m_isNamed), 0));
    const ValueRef sizes = f.expand(m_node.sizesOf(m_node.typeOf(x).shape), 0);
    const ValueRef chosen = f.where(isChosen, sizes, wholeNumber(m_node, 0));
    const Shape shape = m_node.boundDims(f.reduce("sum", chosen, {1}, Formula::Keep::No));
    return emitSized(m_node, "reshape", {x}, shape, {{"newshape", std::vector<int64_t>{}}});
}

ValueRef RunTimeAxes::unsqueeze(ValueRef x)
{
    if (m_node.hasFailed()) return {};
    const ValueRef one = wholeNumber(m_node, 1);
    ValueRef sizes = f.call("broadcast_to", {one}, {{"shape", std::vector<int64_t>{m_rank}}});
    if (f.rank(x) > 0)
        sizes = f.where(m_isNamed, one,
                        f.call("take", {m_node.sizesOf(m_node.typeOf(x).shape), keptBefore()},
                               {{"axis", int64_t{0}}, {"mode", std::string("clip")}}));
    const Shape shape = m_node.boundDims(sizes);
    return emitSized(m_node, "reshape", {x}, shape, {{"newshape", std::vector<int64_t>{}}});
}

ValueRef RunTimeAxes::spread(ValueRef entries, ValueRef others)
{
    const ValueRef chosen =
        f.where(m_matches, f.expand(f.cast(entries, kInt64), 0), wholeNumber(m_node, 0));
    return f.where(m_isNamed, f.reduce("sum", chosen, {1}, Formula::Keep::No), others);
}

} // namespace tenon::compiler
