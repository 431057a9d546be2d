// SPDX-License-Identifier: GPL-3.0-or-later
// What can be read off a document directly.
#include "views/models/document.h"

#include "core/ir/size_bounds.h"
#include "views/models/exact_facts.h"
#include "views/models/format.h"

#include <QObject>

#include <algorithm>
#include <set>

namespace tenon::views {

QString PassStep::title() const
{
    if (rewrites == 0) return name;
    if (firstRewrite == lastRewrite)
        return QObject::tr("%1, rewrite %2 of %3").arg(name).arg(firstRewrite).arg(rewrites);
    return QObject::tr("%1, rewrites %2 to %3 of %4")
        .arg(name)
        .arg(firstRewrite)
        .arg(lastRewrite)
        .arg(rewrites);
}

std::pair<int, int> Document::passCounts() const
{
    std::set<int> all, changed;
    for (const PassStep& step : passes) {
        all.insert(step.position);
        if (step.isChanged && !step.isSkipped) changed.insert(step.position);
    }
    return {static_cast<int>(all.size()), static_cast<int>(changed.size())};
}

double Document::compileMs() const
{
    double total = 0;
    for (const PhaseTime& phase : phases) total += phase.ms;
    return total;
}

std::vector<const std::vector<core::Change>*> Document::changesBetween(size_t before,
                                                                       size_t after) const
{
    std::vector<const std::vector<core::Change>*> changes;
    for (size_t version = before + 1; version <= after; ++version)
        changes.push_back(&passes[version - 1].changes);
    return changes;
}

int Document::cachedKernelCount() const
{
    return static_cast<int>(std::count_if(kernels.begin(), kernels.end(), [](const auto& entry) {
        return entry.second.isFromCache;
    }));
}

int Document::callOfNode(core::NodeId node) const
{
    const auto it = std::find_if(calls.begin(), calls.end(),
                                 [&](const KernelCall& call) { return call.node == node; });
    return it == calls.end() ? -1 : static_cast<int>(it - calls.begin());
}

qint64 Document::macsOf(const core::Module& module, const core::NodeRecord& node) const
{
    const auto own = macs.find(node.id);
    qint64 total = own == macs.end() ? 0 : own->second;
    const auto callee = module.functions().find(node.callee);
    if (!node.callee.isValid() || callee == module.functions().end()) return total;
    for (const core::NodeId member : callee->second->order)
        if (const auto found = macs.find(member); found != macs.end()) total += found->second;
    return total;
}

/// What the window made itself has no file: its graph counts.
qint64 Document::fileNodes() const
{
    return counts.fileNodes > 0 ? counts.fileNodes : core::graphNodes(imported);
}

QString factsText(const Document& document)
{
    const core::ModelCounts& counts = document.counts;
    QStringList facts{countOf(document.fileNodes(), QStringLiteral("node"))};
    if (const qint64 nested = core::nestedNodes(document.imported); nested > 0)
        facts.back() += QStringLiteral(", %1 nested").arg(countText(nested));
    if (counts.parameters > 0)
        facts << shortCountText(static_cast<double>(counts.parameters)) +
                     QStringLiteral(" parameters");
    if (counts.macs > 0)
        facts << shortCountText(static_cast<double>(counts.macs)) + QStringLiteral(" MACs");
    if (!document.opset.isEmpty()) facts << QStringLiteral("opset ") + document.opset;
    return facts.join(QStringLiteral(" · "));
}

std::vector<ExactFact> exactFacts(const Document& document)
{
    const core::ModelCounts& counts = document.counts;
    std::vector<ExactFact> facts{
        {"nodes", QObject::tr("nodes in the file"), document.fileNodes()},
        {"graph_nodes", QObject::tr("nodes of the graph after the import"),
         core::graphNodes(document.imported)},
        {"nested_nodes", QObject::tr("nodes inside of If, Loop and Scan"),
         core::nestedNodes(document.imported)},
        {"params", QObject::tr("parameters: elements of all initializers"), counts.parameters},
        {"param_bytes", QObject::tr("bytes of the parameters in the file"), counts.parameterBytes},
        {"macs", QObject::tr("multiply-accumulates of convolutions and products, as imported"),
         counts.macs}};
    if (!document.isCompiled()) return facts;
    qint64 programMacs = 0;
    for (const KernelCall& call : document.calls) programMacs += call.macs;
    facts.push_back({"program_macs",
                     QObject::tr("multiply-accumulates of the model that the kernels do"),
                     programMacs});
    facts.push_back(
        {"call_count", QObject::tr("kernel calls"), static_cast<qint64>(document.calls.size())});
    facts.push_back({"kernel_count", QObject::tr("different kernels"),
                     static_cast<qint64>(document.kernels.size())});
    if (!document.memory) return facts;
    const MemoryPlan& memory = *document.memory;
    facts.push_back(
        {"workspace_bytes", QObject::tr("bytes of the planned arena"), memory.arenaBytes});
    facts.push_back({"lower_bound_bytes", QObject::tr("lower bound of any plan, in bytes"),
                     memory.lowerBoundBytes});
    facts.push_back({"kernel_workspace_bytes",
                     QObject::tr("largest scratch of one kernel beside the arena, in bytes"),
                     memory.scratchBytes});
    facts.push_back(
        {"constant_bytes", QObject::tr("bytes of the compiled constants"), memory.constantBytes});
    facts.push_back({"io_bytes", QObject::tr("bytes of inputs and outputs"), memory.ioBytes});
    return facts;
}

QString exactFactsText(const Document& document)
{
    QStringList lines;
    for (const ExactFact& fact : exactFacts(document))
        if (fact.value > 0) lines << fact.label + QStringLiteral(": ") + countText(fact.value);
    return lines.join(QLatin1Char('\n'));
}

QString methodText(const KernelCall& call)
{
    return QString::fromStdString(core::methodText(call.method, call.refusal.toStdString()));
}

QString methodReason(const Document& document, const KernelCall& call)
{
    if (methodText(call).isEmpty()) return {};
    const auto servesCall = [&](core::SourceId source) {
        return std::find(call.sources.begin(), call.sources.end(), source) != call.sources.end();
    };
    for (const PassStep& step : document.passes)
        for (const core::Change& change : step.changes)
            for (const core::NodeId id : change.to) {
                const core::NodePtr& node = step.after.findNode(id);
                const bool isChoice = node && node->op.find("contrib_") != std::string::npos &&
                                      node->op.find("weight_transform") == std::string::npos;
                if (isChoice && std::any_of(node->origin.begin(), node->origin.end(), servesCall))
                    return QString::fromStdString(change.reason);
            }
    return {};
}

namespace {

/// Where a node stands: which function by order of ids, and which place in it.
struct Standing
{
    size_t function = 0;
    size_t index = 0;
};

std::optional<Standing> standingOf(const core::Module& module, core::NodeId node)
{
    Standing standing;
    for (const auto& [id, function] : module.functions()) {
        for (const auto* list : {&function->params, &function->order}) {
            const auto it = std::find(list->begin(), list->end(), node);
            if (it == list->end()) continue;
            standing.index = static_cast<size_t>(it - list->begin()) +
                             (list == &function->order ? function->params.size() : 0);
            return standing;
        }
        ++standing.function;
    }
    return std::nullopt;
}

core::NodeId nodeAt(const core::Module& module, Standing standing)
{
    for (const auto& [id, function] : module.functions()) {
        if (standing.function-- > 0) continue;
        if (standing.index < function->params.size()) return function->params[standing.index];
        standing.index -= function->params.size();
        return standing.index < function->order.size() ? function->order[standing.index]
                                                       : core::NodeId();
    }
    return {};
}

} // namespace

core::NodeId counterpart(const Document& from, core::NodeId node, const Document& to)
{
    if (!node.isValid()) return {};
    if (from.versionCount() != to.versionCount()) {
        // Other passes, but the same model read from the file: its own nodes are the same.
        const core::NodePtr& read = from.imported.findNode(node);
        return read && read == to.imported.findNode(node) ? node : core::NodeId();
    }
    for (size_t v = from.versionCount(); v-- > 0;) {
        const core::NodePtr& old = from.version(v).findNode(node);
        if (!old) continue;
        const auto standing = standingOf(from.version(v), node);
        if (!standing) continue;
        const core::NodeId found = nodeAt(to.version(v), *standing);
        const core::NodePtr& now = to.version(v).findNode(found);
        return now && now->kind == old->kind && now->op == old->op ? found : core::NodeId();
    }
    return {};
}

QString modelText(const Document& document)
{
    QStringList lines;
    if (!document.producer.isEmpty()) lines << document.producer;
    if (!document.imported.mainId().isValid()) return lines.join(QLatin1Char('\n'));
    const core::Module& module = document.imported;
    const core::GraphFunction& main = module.main();
    for (const core::NodeId id : main.params) {
        const core::NodeRecord& node = module.node(id);
        const QString type =
            node.types.empty() ? QStringLiteral("unknown type") : typeText(node.types[0]);
        lines << QStringLiteral("in   ") + QString::fromStdString(node.name) +
                     QStringLiteral("  ") + type;
    }
    for (size_t i = 0; i < main.results.size(); ++i) {
        const core::NodePtr& node = module.findNode(main.results[i].node);
        const QString name = i < main.resultNames.size()
                                 ? QString::fromStdString(main.resultNames[i])
                                 : QStringLiteral("output");
        const QString type = node && main.results[i].index < node->types.size()
                                 ? typeText(node->types[main.results[i].index])
                                 : QString();
        lines << QStringLiteral("out  ") + name + QStringLiteral("  ") + type;
    }
    if (const QString error = expectedErrorText(document); !error.isEmpty())
        lines << QStringLiteral("error  ") + error;
    return lines.join(QLatin1Char('\n'));
}

QString expectedErrorText(const Document& document)
{
    if (document.expectedError <= 0) return {};
    return QObject::tr("%1 of the largest result expected by rounding")
        .arg(errorText(document.expectedError));
}

QString openSizesText(const Document& document)
{
    if (!document.imported.mainId().isValid()) return {};
    const core::GraphFunction& main = document.imported.main();
    const core::SizeBounds bounds = core::boundsOf(main);
    QStringList sizes;
    for (const core::NodeId id : main.params)
        for (const core::TensorType& type : document.imported.node(id).types)
            for (const core::Dim& dim : type.shape)
                for (const std::string& symbol : dim.symbols()) {
                    QString size = QString::fromStdString(symbol);
                    if (const auto range = bounds.find(symbol); range != bounds.end())
                        size += QLatin1Char('=') +
                                QString::fromStdString(core::boundsText(range->second));
                    if (!sizes.contains(size)) sizes << size;
                }
    return sizes.join(QStringLiteral(", "));
}

} // namespace tenon::views
