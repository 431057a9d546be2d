// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of kernels on the nodes that they compute.
#include "views/scene/node_figures.h"

#include "core/compare/comparison.h"
#include "views/models/quantize_rows.h"

#include <algorithm>
#include <set>

namespace tenon::views {

using core::NodeRecord;

namespace {

qint64 bytesOf(const std::vector<core::TensorType>& types)
{
    qint64 total = 0;
    for (const core::TensorType& type : types)
        if (core::constantShape(type.shape)) total += type.bytes();
    return total;
}

/// Read and written by the node alone.
qint64 movedBytes(const core::Module& module, const NodeRecord& node)
{
    qint64 total = bytesOf(node.types);
    for (const core::ValueRef operand : node.operands) {
        const core::NodePtr& source = module.findNode(operand.node);
        if (!source || operand.index >= source->types.size()) continue;
        const core::TensorType& type = source->types[operand.index];
        if (core::constantShape(type.shape)) total += type.bytes();
    }
    return total;
}

/// Arithmetic of constants takes no time when the program runs.
bool readsOnlyConstants(const core::Module& module, const NodeRecord& node)
{
    return !node.operands.empty() &&
           std::all_of(node.operands.begin(), node.operands.end(), [&](core::ValueRef operand) {
               const core::NodePtr& source = module.findNode(operand.node);
               return source && source->kind == core::NodeKind::Constant;
           });
}

} // namespace

NodeFigures::NodeFigures(const Document& document, const core::Module& module, CardFigure figure,
                         const std::vector<const NodeRecord*>& standing)
    : m_document(document)
    , m_module(module)
    , m_figure(figure)
{
    if (isOfQuantizing(figure)) {
        takeLosses(standing);
        return;
    }
    if (isCompared(figure)) {
        compare(standing);
        return;
    }
    const bool isMeasured = document.measurement.has_value();
    if (!isMeasured && (figure == CardFigure::Time || figure == CardFigure::Bound))
        m_figure = CardFigure::Error;
    const bool isCounted = m_figure == CardFigure::Macs || m_figure == CardFigure::Bytes;
    if (!isCounted)
        measure(standing);
    else
        for (const NodeRecord* node : standing) count(*node);
}

const NodeFigure* NodeFigures::of(core::NodeId node) const
{
    const auto found = m_figures.find(node);
    return found == m_figures.end() ? nullptr : &found->second;
}

double NodeFigures::ofCall(size_t call) const
{
    if (m_figure == CardFigure::Error) return m_document.calls[call].errorShare;
    const auto& times = m_document.measurement->calls;
    if (call >= times.size()) return 0;
    return m_figure == CardFigure::Time ? times[call].medianUs : times[call].boundUs;
}

double NodeFigures::wholeOfCall(size_t call) const
{
    if (!m_document.measurement) return 0;
    const auto& times = m_document.measurement->calls;
    return call < times.size() ? times[call].medianUs : 0;
}

/// Two operations for a multiply-accumulate, one for a value that is written.
double NodeFigures::weightOf(const NodeRecord& node) const
{
    double values = 1;
    for (const core::TensorType& type : node.types)
        if (core::constantShape(type.shape) && type.dtype.bytes() > 0)
            values += static_cast<double>(type.bytes()) / static_cast<double>(type.dtype.bytes());
    return values + 2 * static_cast<double>(m_document.macsOf(m_module, node));
}

/// A call that stands there itself has its figure whole; of others the nodes that it computes, by
/// the nodes of the model file that both come from.
void NodeFigures::measure(const std::vector<const NodeRecord*>& standing)
{
    std::unordered_map<core::NodeId, const NodeRecord*> byId;
    std::unordered_map<uint32_t, std::vector<const NodeRecord*>> bySource;
    for (const NodeRecord* node : standing) byId.emplace(node->id, node);
    std::set<core::NodeId> whole;
    for (const KernelCall& call : m_document.calls)
        if (byId.count(call.node)) whole.insert(call.node);
    for (const NodeRecord* node : standing) {
        if (whole.count(node->id) || readsOnlyConstants(m_module, *node)) continue;
        for (const core::SourceId source : node->origin) bySource[source.value].push_back(node);
    }
    for (size_t c = 0; c < m_document.calls.size(); ++c) {
        const KernelCall& call = m_document.calls[c];
        if (const auto own = byId.find(call.node); own != byId.end()) {
            share(c, {own->second});
            continue;
        }
        std::vector<const NodeRecord*> nodes;
        for (const core::SourceId source : call.sources)
            if (const auto found = bySource.find(source.value); found != bySource.end())
                nodes.insert(nodes.end(), found->second.begin(), found->second.end());
        std::sort(nodes.begin(), nodes.end(),
                  [](const NodeRecord* a, const NodeRecord* b) { return a->id < b->id; });
        nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
        if (m_figure == CardFigure::Error && !nodes.empty()) // does not divide
            nodes = {*std::max_element(nodes.begin(), nodes.end(), [&](auto* a, auto* b) {
                return weightOf(*a) < weightOf(*b);
            })};
        share(c, nodes);
    }
}

void NodeFigures::share(size_t call, const std::vector<const NodeRecord*>& nodes)
{
    double total = 0;
    for (const NodeRecord* node : nodes) total += weightOf(*node);
    for (const NodeRecord* node : nodes) {
        const double part = weightOf(*node) / total;
        NodeFigure& figure = m_figures[node->id];
        figure.value += ofCall(call) * part;
        figure.whole += wholeOfCall(call) * part;
        figure.call = static_cast<int>(call);
        if (nodes.size() == 1) continue;
        figure.isEstimated = true;
        m_parts[node->id].emplace_back(figure.call, part);
    }
}

void NodeFigures::count(const NodeRecord& node)
{
    const auto value = m_figure == CardFigure::Macs ? m_document.macsOf(m_module, node)
                                                    : movedBytes(m_module, node);
    if (value > 0) m_figures[node.id].value = static_cast<double>(value);
}

/// Of several nodes of the file that one node is now, the worst.
void NodeFigures::takeLosses(const std::vector<const NodeRecord*>& standing)
{
    if (!m_document.quantization) return;
    const auto& losses = m_document.quantization->bySource;
    for (const NodeRecord* node : standing) {
        if (node->kind == core::NodeKind::Constant || readsOnlyConstants(m_module, *node)) continue;
        for (const core::SourceId source : node->origin) {
            const auto found = losses.find(source.value);
            if (found == losses.end()) continue;
            const auto& db = m_figure == CardFigure::Sensitivity ? found->second.aloneDb
                                                                 : found->second.measuredDb;
            if (!db) continue;
            const auto [figure, isNew] = m_figures.try_emplace(node->id);
            if (isNew || *db < figure->second.value) figure->second.value = *db;
        }
    }
}

/// All nodes that a kernel computes have the error of its result: what is inside of it is in no
/// memory.
void NodeFigures::compare(const std::vector<const NodeRecord*>& standing)
{
    if (!m_document.comparison) return;
    std::unordered_map<uint32_t, std::vector<size_t>> bySource;
    const auto& tensors = m_document.comparison->tensors;
    for (size_t i = 0; i < tensors.size(); ++i)
        for (const core::SourceId source : tensors[i].sources) bySource[source.value].push_back(i);
    for (const NodeRecord* node : standing) {
        if (node->kind == core::NodeKind::Constant || readsOnlyConstants(m_module, *node)) continue;
        for (const core::SourceId source : node->origin)
            if (const auto found = bySource.find(source.value); found != bySource.end())
                for (const size_t tensor : found->second) take(tensor, *node);
    }
}

/// The worst of several stays.
void NodeFigures::take(size_t tensor, const NodeRecord& node)
{
    const core::ComparedTensor& compared = m_document.comparison->tensors[tensor];
    const bool isAlone = m_figure == CardFigure::IsolatedError;
    if (isAlone && !compared.isolated) return;
    const double sqnrDb = isAlone ? compared.isolated->sqnrDb : compared.cumulative.sqnrDb;
    const auto [figure, isNew] = m_figures.try_emplace(node.id);
    if (!isNew && !(sqnrDb < figure->second.value)) return;
    figure->second.value = sqnrDb;
    figure->second.isEstimated = compared.sources.size() > 1 && node.name != compared.name &&
                                 node.origin.size() < compared.sources.size();
    figure->second.tensor = static_cast<int>(tensor);
}

const NodeFigure* NodeFigures::worstOf(const std::vector<core::NodeId>& nodes) const
{
    const NodeFigure* worst = nullptr;
    for (const core::NodeId node : nodes)
        if (const NodeFigure* figure = of(node); figure && (!worst || figure->value < worst->value))
            worst = figure;
    return worst;
}

void NodeFigures::splitAmong(const NodeRecord& call)
{
    const auto callee = m_module.functions().find(call.callee);
    if (callee == m_module.functions().end() || m_figure == CardFigure::Error) return;
    std::vector<const NodeRecord*> members;
    for (const core::NodeId id : callee->second->order)
        if (const core::NodePtr& member = m_module.findNode(id);
            member && member->kind != core::NodeKind::Constant)
            members.push_back(member.get());
    if (m_figure == CardFigure::Macs || m_figure == CardFigure::Bytes) {
        for (const NodeRecord* member : members) count(*member);
        return;
    }
    const auto whole = m_figures.find(call.id);
    if (whole == m_figures.end()) return;
    const NodeFigure figure = whole->second;
    if (isCompared(m_figure)) return repeatIn(members, callee->second->results, figure);
    double total = 0;
    for (const NodeRecord* member : members) total += weightOf(*member);
    for (const NodeRecord* member : members) {
        const double part = weightOf(*member) / total;
        m_figures[member->id] = {figure.value * part, figure.whole * part,
                                 figure.isEstimated || members.size() > 1, figure.call};
    }
}

/// The error of a call is that of its result; members before it have it for want of their own.
void NodeFigures::repeatIn(const std::vector<const NodeRecord*>& members,
                           const std::vector<core::ValueRef>& results, const NodeFigure& figure)
{
    for (const NodeRecord* member : members) {
        NodeFigure own = figure;
        own.isEstimated = std::none_of(results.begin(), results.end(), [&](core::ValueRef result) {
            return result.node == member->id;
        });
        m_figures[member->id] = own;
    }
}

NodeFigure NodeFigures::sumOf(const std::vector<core::NodeId>& nodes) const
{
    NodeFigure sum;
    std::unordered_map<int, double> parts;
    for (const core::NodeId node : nodes) {
        const NodeFigure* figure = of(node);
        if (!figure) continue;
        sum.value += figure->value;
        sum.whole += figure->whole;
        if (const auto own = m_parts.find(node); own != m_parts.end())
            for (const auto& [call, part] : own->second) parts[call] += part;
    }
    constexpr double kWhole = 1 - 1e-6;
    for (const auto& [call, part] : parts) sum.isEstimated |= part < kWhole;
    return sum;
}

double NodeFigures::shown(CardFigure kind, const NodeFigure& figure)
{
    if (kind != CardFigure::Bound) return figure.value;
    return figure.whole > 0 ? figure.value / figure.whole : 0;
}

} // namespace tenon::views
