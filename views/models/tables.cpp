// SPDX-License-Identifier: GPL-3.0-or-later
// Rows and columns of the window's tables.
#include "views/models/tables.h"

#include "core/ir/descent.h"
#include "views/models/format.h"
#include "views/models/nesting.h"
#include "views/models/node_text.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace tenon::views {

namespace {

constexpr const char* kDirectCount = "counts the work of the direct method, of which Winograd and "
                                     "Strassen do less, so that they can pass the peak";

QVariant nodeVariant(core::NodeId node)
{
    return node.isValid() ? QVariant(static_cast<qint64>(node.value)) : QVariant(qint64{-1});
}

/// Bytes of the results of `nodes` that exist in `module` and have constant shapes.
qint64 resultBytes(const core::Module& module, const std::vector<core::NodeId>& nodes)
{
    qint64 total = 0;
    for (const core::NodeId id : nodes) {
        const core::NodePtr& node = module.findNode(id);
        if (!node || node->kind == core::NodeKind::Constant) continue;
        for (const core::TensorType& type : node->types)
            if (core::constantShape(type.shape)) total += type.bytes();
    }
    return total;
}

/// Operators and calls among `nodes`, and of those only what `program` holds unless it is empty.
std::vector<core::NodeId> shownOf(const core::Module& module,
                                  const std::vector<core::NodeId>& nodes,
                                  const std::unordered_set<core::NodeId>& program)
{
    std::vector<core::NodeId> shown;
    for (const core::NodeId id : nodes) {
        const core::NodePtr& node = module.findNode(id);
        if (!node || node->kind == core::NodeKind::Constant ||
            node->kind == core::NodeKind::Parameter)
            continue;
        if (program.empty() || program.count(id)) shown.push_back(id);
    }
    return shown;
}

core::NodeId nodeNamed(const core::Module& module, const std::string& name)
{
    if (name.empty() || !module.mainId().isValid()) return {};
    for (const core::NodeId id : module.main().order) {
        const core::NodeRecord& node = module.node(id);
        if (node.name == name) return id;
        for (const core::SourceId source : node.origin)
            if (source.value < module.sources().size() &&
                module.sources()[source.value].name == name)
                return id;
    }
    return {};
}

QString errorShareText(const CallRow& row)
{
    return row.errorShare > 0 ? errorText(row.errorShare) : QString();
}

QString boundText(const CallRow& row)
{
    if (row.shareOfBound <= 0) return {};
    return QString::number(qRound(row.shareOfBound * 100)) +
           (row.isMemoryBound ? QStringLiteral(" % mem") : QStringLiteral(" %"));
}

QString boundTip(const CallRow& row)
{
    return row.isMemoryBound
               ? QStringLiteral("bound by memory: of the time that moving its inputs, weights and "
                                "outputs takes at the measured bandwidth")
               : QStringLiteral("bound by computing: of the time that its work takes at the "
                                "measured peak of the cores");
}

/// What was not measured has no figure.
std::function<QVariant(const CallRow&)> measuredFigure(double CallRow::*member, double scale = 1)
{
    return [member, scale](const CallRow& row) {
        return row.*member > 0 ? QVariant(row.*member * scale) : QVariant();
    };
}

QVariant errorExtra(const CallRow& row, int role)
{
    if (role == NodeRole) return nodeVariant(row.node);
    if (role == FigureRole) return row.errorShare;
    if (role != Qt::ToolTipRole || row.errorShare <= 0) return {};
    const QString share = QStringLiteral(
        "expected to add to the largest error by rounding, relative to the largest result");
    return row.refusedForm.isEmpty() ? share : share + QLatin1Char('\n') + row.refusedForm;
}

DeltaRow deltaOf(const core::Module& before, const core::Module& after,
                 const std::unordered_set<core::NodeId>& program,
                 const std::vector<core::NodeId>& changed, const std::vector<core::NodeId>& made)
{
    DeltaRow row;
    const std::vector<core::NodeId> from = shownOf(before, changed, {});
    const std::vector<core::NodeId> to = shownOf(after, made, program);
    row.from = static_cast<int>(from.size());
    row.to = static_cast<int>(to.size());
    row.writtenBytes = resultBytes(after, to) - resultBytes(before, from);
    if (!to.empty()) row.node = to.back();
    if (!row.node.isValid() && !from.empty()) row.node = from.front();
    if (!row.node.isValid() && !changed.empty()) row.node = changed.front();
    const core::Module& module = after.findNode(row.node) ? after : before;
    const core::NodePtr& shown = module.findNode(row.node);
    if (!shown) return row;
    row.place = QString::fromStdString(shown->name);
    if (row.place.isEmpty()) row.place = sourceNames(module, shown->origin);
    if (row.place.isEmpty()) row.place = titleOf(module, *shown);
    return row;
}

} // namespace

DeltaModel* makeDeltaModel(QObject* parent)
{
    const auto extra = [](const DeltaRow& row, int role) -> QVariant {
        if (role == NodeRole) return nodeVariant(row.node);
        if (role == Qt::ToolTipRole) return row.reason;
        return {};
    };
    return new DeltaModel(
        {{QStringLiteral("Rule"), [](const DeltaRow& r) { return r.rule; }, false, extra},
         {QStringLiteral("Where"), [](const DeltaRow& r) { return r.place; }, false, extra},
         {QStringLiteral("Nodes"), [](const DeltaRow& r) { return arrowText(r.from, r.to); }, true,
          extra, [](const DeltaRow& r) { return r.to - r.from; }},
         {QStringLiteral("Written"),
          [](const DeltaRow& r) { return byteDifferenceText(r.writtenBytes); }, true, extra,
          [](const DeltaRow& r) { return r.writtenBytes; }, QStringLiteral("B")},
         {QStringLiteral("Reason"), [](const DeltaRow& r) { return r.reason; }, false, extra}},
        parent);
}

IssueModel* makeIssueModel(QObject* parent)
{
    const auto extra = [](const IssueRow& row, int role) -> QVariant {
        if (role == NodeRole) return nodeVariant(row.node);
        if (role == Qt::ToolTipRole || role == PlainTextRole)
            return QString::fromStdString(row.diagnostic.text());
        if (role == FigureRole) return static_cast<int>(row.diagnostic.severity);
        return {};
    };
    return new IssueModel(
        {{QStringLiteral("Severity"),
          [](const IssueRow& r) {
              return QString::fromUtf8(core::severityText(r.diagnostic.severity).data());
          },
          false, extra, [](const IssueRow& r) { return -static_cast<int>(r.diagnostic.severity); }},
         {QStringLiteral("Message"),
          [](const IssueRow& r) { return QString::fromStdString(r.diagnostic.message); }, false,
          extra},
         {QStringLiteral("Node"),
          [](const IssueRow& r) { return QString::fromStdString(r.diagnostic.location.node); },
          false, extra},
         {QStringLiteral("Code"),
          [](const IssueRow& r) {
              return QString::fromUtf8(core::codeText(r.diagnostic.code).data());
          },
          false, extra}},
        parent);
}

namespace {

QVariant callExtra(const CallRow& row, int role)
{
    if (role == NodeRole) return nodeVariant(row.node);
    if (role == FigureRole) return row.shareOfSlowest;
    if (role == Qt::ToolTipRole)
        return QStringList{row.name, row.symbol, row.sources}.join(QLatin1Char('\n'));
    return {};
}

QVariant timedExtra(const CallRow& row, int role)
{
    if (role == EmulatedRole) return row.isEmulated;
    if (role == Qt::ToolTipRole && row.unit == CostUnit::Instructions && row.medianUs >= 0)
        return fullCostText(row.medianUs, row.unit) +
               QStringLiteral(", counted by the emulator; silicon takes a cycle or more of each");
    if (role == Qt::ToolTipRole && row.isEmulated)
        return QStringLiteral("emulated: not a time of silicon");
    return callExtra(row, role);
}

/// The title of the column tells the unit.
QString costOf(const CallRow& row)
{
    if (row.medianUs < 0) return QStringLiteral("–");
    return row.unit == CostUnit::Time ? durationText(row.medianUs)
                                      : shortCountText(row.medianUs * 1000);
}

} // namespace

CallModel* makeCallModel(QObject* parent)
{
    const auto heading = [](const CallRow& r) {
        return std::pair(costTitle(r.unit), costUnitText(r.unit));
    };
    const auto share = [](const CallRow& r) {
        return r.medianUs < 0 ? QString()
                              : QString::number(r.share * 100, 'f', 1) + QStringLiteral(" %");
    };
    const auto rate = [](const CallRow& r) {
        return r.gflops <= 0 ? QString() : QString::number(r.gflops, 'f', 1);
    };
    const auto bounded = [](const CallRow& row, int role) -> QVariant {
        return role == Qt::ToolTipRole && row.shareOfBound > 0 ? QVariant(boundTip(row))
                                                               : timedExtra(row, role);
    };
    const auto why = [](const CallRow& row, int role) -> QVariant {
        if (role == Qt::ToolTipRole && !row.methodReason.isEmpty()) return row.methodReason;
        return callExtra(row, role);
    };
    const auto rated = [](const CallRow& row, int role) -> QVariant {
        if (role == Qt::ToolTipRole && row.doesLess) return QLatin1String(kDirectCount);
        return timedExtra(row, role);
    };
    return new CallModel(
        {{QStringLiteral("#"), [](const CallRow& r) { return QString::number(r.index); }, true,
          callExtra, [](const CallRow& r) { return r.index; }, QStringLiteral("")},
         {QStringLiteral("Kernel"), [](const CallRow& r) { return r.name; }, false, callExtra},
         {QStringLiteral("Method"), [](const CallRow& r) { return r.method; }, false, why},
         {QStringLiteral("From"), [](const CallRow& r) { return r.sources; }, false, callExtra},
         {QStringLiteral("Time"), costOf, true, timedExtra, measuredFigure(&CallRow::medianUs),
          QStringLiteral("µs"), heading},
         {QStringLiteral("Share"), share, true, callExtra, measuredFigure(&CallRow::share, 100),
          QStringLiteral("%")},
         {QStringLiteral("GFLOP/s"), rate, true, rated, measuredFigure(&CallRow::gflops),
          QStringLiteral("")},
         {QStringLiteral("Of bound"), boundText, true, bounded,
          measuredFigure(&CallRow::shareOfBound, 100), QStringLiteral("%")},
         {QStringLiteral("Error"), errorShareText, true, errorExtra,
          measuredFigure(&CallRow::errorShare), QStringLiteral("")}},
        parent);
}

OperatorModel* makeOperatorModel(QObject* parent)
{
    const auto extra = [](const OperatorRow& row, int role) -> QVariant {
        if (role == NodeRole) return nodeVariant(row.first);
        if (role == FigureRole) return row.share;
        return {};
    };
    return new OperatorModel(
        {{QStringLiteral("Operator"), [](const OperatorRow& r) { return r.op; }, false, extra},
         {QStringLiteral("Count"), [](const OperatorRow& r) { return countText(r.count); }, true,
          extra, [](const OperatorRow& r) { return r.count; }, QStringLiteral("")}},
        parent);
}

std::vector<DeltaRow> deltaRows(const Document& document, size_t version)
{
    std::vector<DeltaRow> rows;
    if (version == 0 || version > document.passes.size()) return rows;
    const core::Module& before = document.version(version - 1);
    const core::Module& after = document.version(version);
    // Operators that moved into a primitive function are counted where they were.
    const std::unordered_set<core::NodeId> program = programNodes(after);
    for (const core::Change& change : document.passes[version - 1].changes) {
        DeltaRow row = deltaOf(before, after, program, change.from, change.to);
        row.rule = QString::fromStdString(change.rule);
        row.reason = QString::fromStdString(change.reason);
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<DeltaRow> deltaRows(const Document& document, size_t before, size_t after)
{
    if (before + 1 == after) return deltaRows(document, after);
    std::vector<DeltaRow> rows;
    const core::Module& was = document.version(before);
    const core::Module& is = document.version(after);
    const std::unordered_set<core::NodeId> program = programNodes(is);
    for (const core::ComposedChange& change :
         core::composeChanges(was, is, document.changesBetween(before, after))) {
        DeltaRow row = deltaOf(was, is, program, change.from, change.to);
        QStringList rules;
        for (const std::string& rule : change.rules) rules << QString::fromStdString(rule);
        row.rule = rules.join(QStringLiteral(", "));
        row.reason = rules.join(QStringLiteral(" → "));
        rows.push_back(std::move(row));
    }
    return rows;
}

IssueRow issueRow(const Document& document, const core::Diagnostic& diagnostic)
{
    return {diagnostic, nodeNamed(document.imported, diagnostic.location.node)};
}

std::vector<IssueRow> issueRows(const Document& document)
{
    std::vector<IssueRow> rows;
    for (const core::Diagnostic& diagnostic : document.issues)
        rows.push_back(issueRow(document, diagnostic));
    std::stable_sort(rows.begin(), rows.end(), [](const IssueRow& a, const IssueRow& b) {
        return a.diagnostic.severity > b.diagnostic.severity;
    });
    return rows;
}

std::vector<CallRow> callRows(const Document& document)
{
    std::vector<CallRow> rows;
    double total = 0, slowest = 0;
    const auto* measured = document.measurement ? &document.measurement->calls : nullptr;
    if (measured)
        for (const CallTime& time : *measured) {
            total += time.medianUs;
            slowest = std::max(slowest, time.medianUs);
        }
    for (size_t i = 0; i < document.calls.size(); ++i) {
        const KernelCall& call = document.calls[i];
        const auto kernel = document.kernels.find(call.kernel);
        CallRow row{static_cast<int>(i), call.name, sourceNames(document.imported, call.sources),
                    kernel == document.kernels.end() ? call.kernel : kernel->second.symbol};
        row.node = call.node;
        row.method = methodText(call);
        row.doesLess = call.method.kind == core::Method::Winograd ||
                       call.method.kind == core::Method::Strassen;
        row.methodReason = methodReason(document, call);
        row.errorShare = call.errorShare;
        row.refusedForm = call.refusedForm;
        if (measured && i < measured->size()) {
            row.medianUs = (*measured)[i].medianUs;
            row.isEmulated = document.measurement->isEmulated;
            row.unit = document.measurement->unit;
            row.share = total > 0 ? row.medianUs / total : 0;
            row.shareOfSlowest = slowest > 0 ? row.medianUs / slowest : 0;
            row.isMemoryBound = (*measured)[i].isMemoryBound;
            row.shareOfBound = row.medianUs > 0 ? (*measured)[i].boundUs / row.medianUs : 0;
            const bool isTime = row.unit == CostUnit::Time;
            row.gflops = isTime && row.medianUs > 0 ? call.flops / row.medianUs / 1000 : 0;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<OperatorRow> operatorRows(const Document& document)
{
    std::map<QString, OperatorRow> counts;
    if (!document.imported.mainId().isValid()) return {};
    int most = 1;
    const auto count = [&](core::NodeId id) {
        const core::NodeRecord& node = document.imported.node(id);
        if (node.kind == core::NodeKind::Constant || node.kind == core::NodeKind::Parameter) return;
        OperatorRow& row = counts[titleOf(document.imported, node)];
        if (row.count++ == 0) row.first = id;
        most = std::max(most, row.count);
    };
    for (const core::NodeId id : document.imported.main().order) {
        count(id);
        forEachNested(document.imported, document.imported.node(id), count);
    }
    std::vector<OperatorRow> rows;
    for (auto& [op, row] : counts) {
        row.op = op;
        row.share = static_cast<double>(row.count) / most;
        rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const OperatorRow& a, const OperatorRow& b) { return a.count > b.count; });
    return rows;
}

QString sourceNames(const core::Module& module, const std::vector<core::SourceId>& sources)
{
    QStringList names;
    for (const core::SourceId source : sources)
        if (source.value < module.sources().size())
            names << QString::fromStdString(module.sources()[source.value].name);
    if (names.size() > 3) return names.mid(0, 3).join(QStringLiteral(", ")) + QStringLiteral(" …");
    return names.join(QStringLiteral(", "));
}

} // namespace tenon::views
