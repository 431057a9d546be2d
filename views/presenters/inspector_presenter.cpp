// SPDX-License-Identifier: GPL-3.0-or-later
// Collects the facts of the selected node and the texts of its kernel.
#include "views/presenters/inspector_presenter.h"

#include "core/compare/comparison.h"
#include "views/models/compare_rows.h"
#include "views/models/format.h"
#include "views/models/measured_text.h"
#include "views/models/node_text.h"
#include "views/models/serving.h"

#include <algorithm>

namespace tenon::views {

InspectorPresenter::InspectorPresenter(Engine engine, JobPresenter& jobs, Selection& selection,
                                       QObject* parent)
    : QObject(parent)
    , m_engine(std::move(engine))
    , m_jobs(jobs)
    , m_selection(selection)
{
    connect(&m_selection, &Selection::changed, this, &InspectorPresenter::showNode);
}

void InspectorPresenter::setDocument(DocumentPtr document)
{
    m_document = std::move(document);
    m_listings.clear();
    showNode(m_selection.node());
}

void InspectorPresenter::setVersion(size_t version)
{
    if (version == m_version) return;
    m_version = version;
    if (m_node.isValid()) showNode(m_node);
}

/// The record in the shown version, or in the nearest version where the node lives.
const core::NodeRecord* InspectorPresenter::record(const core::Module*& module) const
{
    if (!m_document || !m_node.isValid()) return nullptr;
    const auto look = [&](size_t version) -> const core::NodeRecord* {
        module = &m_document->version(version);
        return module->findNode(m_node).get();
    };
    const size_t count = m_document->versionCount();
    const size_t shown = std::min(m_version, count - 1);
    for (size_t distance = 0; distance < count; ++distance) {
        if (distance <= shown)
            if (const auto* found = look(shown - distance)) return found;
        if (shown + distance < count)
            if (const auto* found = look(shown + distance)) return found;
    }
    return nullptr;
}

namespace {

/// Of the tensor that the node gives, or of its kernel's result.
void addComparison(const Document& document, const core::NodeRecord& node,
                   std::vector<FactRow>& facts)
{
    const int index = document.comparison ? tensorOfNode(*document.comparison, node) : -1;
    if (index < 0) return;
    const core::ComparedTensor& tensor = document.comparison->tensors[static_cast<size_t>(index)];
    const QString name = QString::fromStdString(tensor.name);
    QString text = decibelText(tensor.cumulative.sqnrDb);
    QString tip =
        QObject::tr("%1 beside the reference: %2").arg(name, errorSentence(tensor.cumulative));
    if (tensor.isolated) {
        text += QObject::tr(", alone %1").arg(decibelText(tensor.isolated->sqnrDb));
        tip += QObject::tr("\nits kernel alone: %1").arg(errorSentence(*tensor.isolated));
    }
    facts.push_back({QObject::tr("error"), text, tip, {}});
}

} // namespace

void InspectorPresenter::showNode(core::NodeId node)
{
    m_node = node;
    m_state = {};
    m_kernel.clear();
    const core::Module* module = nullptr;
    const core::NodeRecord* found = record(module);
    if (found) {
        for (const core::Diagnostic& issue : m_document->issues) {
            if (issue.location.node.empty() || issue.location.node != found->name) continue;
            const QString text = QString::fromStdString(issue.message);
            const bool isError = issue.severity == core::Severity::Error;
            m_state.facts.push_back({isError ? tr("error") : tr("issue"), text, text, {}});
        }
        describe(*module, *found);
        addComparison(*m_document, *found, m_state.facts);
        describeMembers(*module, *found);
        describeCall(callForNode(*m_document, *found));
    }
    emit stateChanged();
    emit codeChanged();
}

namespace {

/// What the importer does not know has no family.
QString kindText(const core::Module& module, const core::NodeRecord& node)
{
    if (!node.types.empty() && node.types[0].dtype == core::kHandle)
        return QObject::tr("not imported");
    return familyText(familyOf(module, node));
}

QString macsTip(bool isCall)
{
    return isCall ? QObject::tr("multiply-accumulates of the operators in it, by their shapes")
                  : QObject::tr("multiply-accumulates of this node, by its shapes");
}

/// "conv_3 (Conv)" of the nodes of the file that it came from.
QStringList originsOf(const core::Module& module, const core::NodeRecord& node)
{
    QStringList origins;
    for (const core::SourceId source : node.origin)
        if (source.value < module.sources().size()) {
            const core::SourceNode& from = module.sources()[source.value];
            origins << QString::fromStdString(from.name) + QStringLiteral(" (") +
                           QString::fromStdString(from.op) + QLatin1Char(')');
        }
    return origins;
}

} // namespace

void InspectorPresenter::describe(const core::Module& module, const core::NodeRecord& node)
{
    m_state.hasNode = true;
    m_state.isCompiled = m_document->isCompiled();
    m_state.isInput = node.kind == core::NodeKind::Parameter;
    m_state.title = titleOf(module, node);
    m_state.subtitle = node.name.empty() ? QString() : QString::fromStdString(node.name);
    auto& facts = m_state.facts;
    const bool isCall = node.kind == core::NodeKind::Call || node.kind == core::NodeKind::CallTir;
    facts.push_back({tr("kind"),
                     node.kind == core::NodeKind::Parameter  ? tr("input")
                     : node.kind == core::NodeKind::Constant ? tr("constant")
                     : node.kind == core::NodeKind::Call     ? tr("call of a primitive function")
                     : node.kind == core::NodeKind::CallTir  ? tr("kernel call")
                                                             : kindText(module, node),
                     {},
                     {}});
    for (size_t i = 0; i < node.operands.size(); ++i) {
        const core::ValueRef operand = node.operands[i];
        if (!operand.node.isValid()) continue;
        const core::NodePtr& source = module.findNode(operand.node);
        QString text = valueText(module, operand);
        if (source && operand.index < source->types.size())
            text = source->kind == core::NodeKind::Constant
                       ? tr("constant ") + typeText(source->types[operand.index])
                       : shortenedMiddle(text, 26) + QStringLiteral("  ") +
                             shapeLabel(source->types[operand.index]);
        const bool canGo = source && source->kind != core::NodeKind::Constant;
        facts.push_back({i == 0 ? tr("input") : QString(), text, valueText(module, operand),
                         canGo ? operand.node : core::NodeId()});
    }
    for (size_t i = 0; i < node.types.size(); ++i)
        facts.push_back({i == 0 ? tr("output") : QString(), typeText(node.types[i]), {}, {}});
    if (const qint64 macs = m_document->macsOf(module, node); macs > 0)
        facts.push_back({tr("MACs"), countText(macs), macsTip(isCall), {}});
    if (!isCall)
        for (const auto& [name, value] : node.attrs.entries())
            facts.push_back({QString::fromStdString(name),
                             QString::fromStdString(core::attrText(value)),
                             {},
                             {}});
    const QStringList origins = originsOf(module, node);
    for (int i = 0; i < origins.size() && i < 6; ++i)
        facts.push_back(
            {i == 0 ? tr("from") : QString(), origins[i], origins.join(QLatin1Char('\n')), {}});
    if (origins.size() > 6)
        facts.push_back(
            {{}, tr("and %1 more").arg(origins.size() - 6), origins.join(QLatin1Char('\n')), {}});
}

void InspectorPresenter::describeMembers(const core::Module& module, const core::NodeRecord& node)
{
    const core::Module* home = &module;
    core::FunctionId callee = node.callee;
    if (node.kind == core::NodeKind::CallTir) {
        // The call that this kernel call replaced still stands in an older version.
        for (size_t v = m_document->versionCount(); v-- > 1 && !callee.isValid();)
            for (const core::Change& change : m_document->passes[v - 1].changes)
                if (std::find(change.to.begin(), change.to.end(), node.id) != change.to.end())
                    for (const core::NodeId from : change.from) {
                        const core::NodePtr& old = m_document->version(v - 1).findNode(from);
                        if (!old || old->kind != core::NodeKind::Call) continue;
                        callee = old->callee;
                        home = &m_document->version(v - 1);
                    }
    }
    const auto function = home->functions().find(callee);
    if (!callee.isValid() || function == home->functions().end()) return;
    for (const core::NodeId id : function->second->order) {
        const core::NodePtr& member = home->findNode(id);
        if (!member || member->kind == core::NodeKind::Constant) continue;
        m_state.members.push_back(
            {titleOf(*home, *member), detailOf(*home, *member), spokenText(*home, *member), id});
    }
}

void InspectorPresenter::addCallTime(size_t call)
{
    if (!m_document->measurement || call >= m_document->measurement->calls.size()) return;
    const Measurement& m = *m_document->measurement;
    const CallTime& time = m.calls[call];
    m_state.facts.push_back(
        {m.unit == CostUnit::Time ? tr("time") : tr("instructions"),
         tr("%1  (%2, n = %3)").arg(fullCostText(time.medianUs, m.unit), placeText(m)).arg(m.runs),
         tr("measured: %1, %2, %3").arg(m.method, m.date, countOf(m.threads, tr("thread"))),
         {}});
}

void InspectorPresenter::addCallError(const KernelCall& call)
{
    if (call.errorShare <= 0) return;
    m_state.facts.push_back(
        {tr("rounding"),
         tr("%1 of the largest result").arg(errorText(call.errorShare)),
         tr("what rounding here is expected to add to the largest error of the results; the sums "
            "themselves are off by %1 of the size of their terms; of the whole model: %2")
             .arg(errorText(call.sumError), errorText(m_document->expectedError)),
         {}});
    if (!call.refusedForm.isEmpty())
        m_state.facts.push_back({tr("not taken"), call.refusedForm, call.refusedForm, {}});
}

void InspectorPresenter::describeCall(int call)
{
    if (call < 0) {
        m_state.codeMessage =
            !m_state.isCompiled ? tr("Compile to see schedule, loop IR and assembly here.")
            : m_state.isInput
                ? tr("An input is given to the model; no kernel computes it.")
                : tr("This node became part of no kernel: it was folded or only renames a value.");
        return;
    }
    const KernelCall& found = m_document->calls[static_cast<size_t>(call)];
    auto& facts = m_state.facts;
    const auto sharing =
        std::count_if(m_document->calls.begin(), m_document->calls.end(),
                      [&](const KernelCall& other) { return other.kernel == found.kernel; });
    const auto kernel = m_document->kernels.find(found.kernel);
    const QString symbol =
        kernel == m_document->kernels.end() ? found.kernel : kernel->second.symbol;
    facts.push_back({tr("kernel"), found.name, found.name + QLatin1Char('\n') + symbol, {}});
    facts.push_back({tr("symbol"),
                     sharing > 1 ? tr("%1  ·  %2 calls share it").arg(symbol).arg(sharing) : symbol,
                     symbol,
                     {}});
    if (const QString method = methodText(found); !method.isEmpty())
        facts.push_back({tr("method"), method, methodReason(*m_document, found), {}});
    addCallError(found);
    if (found.flops > 0 && found.movedBytes > 0)
        facts.push_back({tr("intensity"),
                         tr("%1 operations/byte").arg(found.flops / found.movedBytes, 0, 'f', 1),
                         tr("of the whole kernel, by its shapes"),
                         {}});
    addCallTime(static_cast<size_t>(call));
    m_kernel = found.kernel;
    m_state.hasKernel = true;
    if (kernel == m_document->kernels.end()) return;
    const auto loaded = m_listings.find(m_kernel);
    showListing(loaded == m_listings.end() ? kernel->second : loaded->second);
}

void InspectorPresenter::showListing(const KernelListing& listing)
{
    m_state.schedule = listing.schedule.join(QLatin1Char('\n'));
    if (!listing.rule.isEmpty()) m_state.schedule.prepend(tr("# rule: %1\n").arg(listing.rule));
    m_state.tir = {listing.tir.trimmed(), {}};
    m_state.llvm = {listing.llvm, listing.llvmToTir};
    m_state.assembly = {listing.assembly, listing.assemblyToTir};
}

void InspectorPresenter::loadCode()
{
    if (!m_state.hasKernel || m_state.isLoading || !m_state.assembly.text.isEmpty() ||
        !m_engine.listing)
        return;
    m_state.isLoading = true;
    emit codeChanged();
    const auto slot = std::make_shared<KernelListing>();
    const DocumentPtr document = m_document;
    const QString kernel = m_kernel;
    const auto listing = m_engine.listing;
    m_jobs.startQuietly(
        QStringLiteral("listing"),
        [=](core::JobContext& job) -> core::Status {
            core::Result<KernelListing> made = listing(document, kernel, job);
            if (!made) return made.error();
            *slot = *std::move(made);
            return core::kDone;
        },
        [this, slot, kernel, document](const core::Status& status) {
            if (document != m_document) return;
            if (status) m_listings[kernel] = *slot;
            if (kernel != m_kernel) return;
            m_state.isLoading = false;
            if (status) {
                showListing(*slot);
                if (slot->assembly.isEmpty())
                    m_state.codeMessage = tr("The compiler gave no assembly.");
            } else
                m_state.codeMessage = QString::fromStdString(status.error().message);
            emit codeChanged();
        });
}

} // namespace tenon::views
