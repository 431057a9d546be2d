// SPDX-License-Identifier: GPL-3.0-or-later
// Columns, verdicts and sentences of comparisons.
#include "views/models/compare_rows.h"

#include "views/models/format.h"

#include <QObject>

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

using core::TensorError;

QString digits(double value)
{
    if (std::isnan(value)) return QStringLiteral("NaN");
    if (std::isinf(value)) return value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
    return QString::number(value, 'g', 3);
}

/// Of whole steps between neighbouring floats.
QString stepsCell(double steps)
{
    constexpr double kMostInFull = 1e7;
    return steps >= 0 && steps < kMostInFull ? countText(qRound64(steps)) : digits(steps);
}

/// As CSV and the sorting have it: one column of numbers.
QString decibelCell(double sqnrDb)
{
    if (sqnrDb == HUGE_VAL) return QObject::tr("exact");
    return std::isfinite(sqnrDb) ? QString::number(sqnrDb, 'f', 1) : QObject::tr("none");
}

QString cosineCell(double cosine) { return QString::number(cosine, 'f', cosine > 0.9999 ? 8 : 4); }

bool isOwn(const CompareRow& row) { return row.isolated && row.isolated->isOutside; }

QString nameTip(const CompareRow& row)
{
    QStringList lines{row.name, row.type};
    if (!row.form.isEmpty()) lines << QObject::tr("the program holds it in %1").arg(row.form);
    if (row.name.startsWith(QLatin1Char('(')))
        lines << QObject::tr("only the compiled program has it; its reference is computed from the "
                             "model's tensors by the kernel's definition");
    return lines.join(QLatin1Char('\n'));
}

QString verdictTip(const CompareRow& row)
{
    const bool isOut = row.cumulative.isOutside;
    if (isOut && isOwn(row))
        return QObject::tr("Outside of tolerance, and on the reference's inputs as well: the "
                           "kernel itself is off");
    if (isOut && row.isolated)
        return QObject::tr("Outside of tolerance, but within it on the reference's inputs: the "
                           "error came to it");
    if (isOut) return QObject::tr("Outside of tolerance");
    if (isOwn(row))
        return QObject::tr("Within tolerance, but not on the reference's inputs: the kernel itself "
                           "is off");
    return QObject::tr("Within tolerance");
}

QVariant extraOf(const CompareRow& row, int role, const QString& tip)
{
    if (role == NodeRole && row.node.isValid()) return QVariant(qint64(row.node.value));
    if (role == Qt::ToolTipRole && !tip.isEmpty()) return tip;
    return {};
}

TableColumn<CompareRow> errorColumn(const QString& title, const QString& tip,
                                    double TensorError::*field, QString (*cell)(double))
{
    return {.title = title,
            .text = [=](const CompareRow& row) { return cell(row.cumulative.*field); },
            .isNumber = true,
            .extra = [=](const CompareRow& row, int role) { return extraOf(row, role, tip); },
            .key = [=](const CompareRow& row) { return QVariant(row.cumulative.*field); },
            .unit = QStringLiteral("")};
}

/// Of an error that not every row has.
TableColumn<CompareRow> extraColumn(const QString& title, const QString& tip,
                                    std::optional<TensorError> CompareRow::*error,
                                    double TensorError::*field, QString (*cell)(double))
{
    return {.title = title,
            .text =
                [=](const CompareRow& row) {
                    return row.*error ? cell((*(row.*error)).*field) : QString();
                },
            .isNumber = true,
            .extra = [=](const CompareRow& row, int role) { return extraOf(row, role, tip); },
            .key =
                [=](const CompareRow& row) {
                    return row.*error ? QVariant((*(row.*error)).*field) : QVariant();
                },
            .unit = QStringLiteral("")};
}

TableColumn<CompareRow> textColumn(const QString& title, QString (*text)(const CompareRow&),
                                   QString (*tip)(const CompareRow&))
{
    return {.title = title,
            .text = text,
            .isNumber = false,
            .extra = [=](const CompareRow& row, int role) { return extraOf(row, role, tip(row)); }};
}

/// The node of the model that gives the tensor, else one that its kernel computes.
core::NodeId nodeOf(const core::ComparedTensor& tensor, const Document& document)
{
    if (!document.imported.mainId().isValid()) return {};
    core::NodeId any;
    for (const core::NodeId id : document.imported.main().order) {
        const core::NodeRecord& node = document.imported.node(id);
        const bool isIts =
            std::any_of(node.origin.begin(), node.origin.end(), [&](const core::SourceId source) {
                return std::find(tensor.sources.begin(), tensor.sources.end(), source) !=
                       tensor.sources.end();
            });
        if (!isIts) continue;
        any = id;
        if (node.name == tensor.name) return id;
    }
    return any; // the last one is nearest to the result
}

} // namespace

QString decibelText(double sqnrDb)
{
    if (sqnrDb == HUGE_VAL) return QObject::tr("exact");
    return std::isfinite(sqnrDb) ? QObject::tr("%1 dB").arg(sqnrDb, 0, 'f', 1)
                                 : QObject::tr("no signal");
}

QString verdictText(const CompareRow& row)
{
    const QString own = QObject::tr("own kernel");
    if (!row.cumulative.isOutside) return isOwn(row) ? own : QObject::tr("within");
    const QString all = row.isFirst ? QObject::tr("first outside") : QObject::tr("outside");
    return isOwn(row) ? all + QStringLiteral(", ") + own : all;
}

int severityOf(const CompareRow& row)
{
    return isOwn(row) ? 2 : row.cumulative.isOutside ? (row.isolated ? 1 : 2) : 0;
}

namespace {

TableColumn<CompareRow> verdictColumn()
{
    return {.title = QObject::tr("Verdict"),
            .text = verdictText,
            .isNumber = false,
            .extra = [](const CompareRow& row, int role) -> QVariant {
                if (role == FigureRole) return severityOf(row);
                if (role == StrongRole) return row.isFirst;
                return extraOf(row, role, verdictTip(row));
            },
            .key =
                [](const CompareRow& row) {
                    return QVariant(severityOf(row) * 2 + (row.isFirst ? 1 : 0));
                }};
}

} // namespace

CompareModel* makeCompareModel(QObject* parent)
{
    const QString all = QObject::tr("With everything before it computed by the device, too");
    const QString alone = QObject::tr("Of the kernel alone, on the reference's inputs");
    const QString noise = QObject::tr("What rounding alone moves: the model at level 0, its sums "
                                      "from the end against its sums from the start");
    return new CompareModel(
        {{.title = QObject::tr("#"),
          .text = [](const CompareRow& row) { return QString::number(row.call); },
          .isNumber = true,
          .extra = [](const CompareRow& row,
                      int role) { return extraOf(row, role, QObject::tr("call of a kernel")); },
          .key = [](const CompareRow& row) { return QVariant(row.call); }},
         textColumn(
             QObject::tr("Tensor"), [](const CompareRow& row) { return row.name; }, nameTip),
         textColumn(
             QObject::tr("Kernel"), [](const CompareRow& row) { return row.kernel; },
             [](const CompareRow& row) { return row.kernel + QLatin1Char('\n') + row.function; }),
         textColumn(
             QObject::tr("Nodes"), [](const CompareRow& row) { return row.nodes; },
             [](const CompareRow& row) { return row.nodes; }),
         errorColumn(QObject::tr("SQNR dB"), all, &TensorError::sqnrDb, decibelCell),
         errorColumn(QObject::tr("Max"), all, &TensorError::maxAbs, digits),
         extraColumn(QObject::tr("Alone dB"), alone, &CompareRow::isolated, &TensorError::sqnrDb,
                     decibelCell),
         extraColumn(QObject::tr("Alone max"), alone, &CompareRow::isolated, &TensorError::maxAbs,
                     digits),
         errorColumn(QObject::tr("Cosine"), all, &TensorError::cosine, cosineCell),
         errorColumn(QObject::tr("ULPs"), all, &TensorError::maxUlps, stepsCell),
         extraColumn(QObject::tr("Noise dB"), noise, &CompareRow::noise, &TensorError::sqnrDb,
                     decibelCell),
         verdictColumn()},
        parent);
}

std::vector<CompareRow> compareRows(const core::Comparison& comparison, const Document& document)
{
    std::vector<CompareRow> rows;
    const auto first = comparison.first();
    for (size_t i = 0; i < comparison.tensors.size(); ++i) {
        const core::ComparedTensor& tensor = comparison.tensors[i];
        QStringList nodes;
        for (const std::string& node : tensor.nodes) nodes << QString::fromStdString(node);
        const QString name = QString::fromStdString(tensor.name);
        const QString title = QString::fromStdString(tensor.title.text());
        CompareRow row;
        row.tensor = i;
        row.call = static_cast<int>(tensor.call);
        row.name =
            tensor.isInModel && tensor.isInReference ? name : QStringLiteral("(%1)").arg(name);
        row.type = QString::fromStdString(tensor.type);
        row.form = QString::fromStdString(tensor.form);
        row.function = QString::fromStdString(tensor.function);
        row.kernel = title.isEmpty() ? row.function : title;
        row.nodes = nodes.join(QStringLiteral(", "));
        row.cumulative = tensor.cumulative;
        row.isolated = tensor.isolated;
        row.noise = tensor.noise;
        row.isFirst = first == i;
        row.node = nodeOf(tensor, document);
        rows.push_back(std::move(row));
    }
    return rows;
}

int tensorOfNode(const core::Comparison& comparison, const core::NodeRecord& node)
{
    int found = -1;
    for (size_t i = 0; i < comparison.tensors.size(); ++i) {
        const core::ComparedTensor& tensor = comparison.tensors[i];
        const bool isIts =
            std::any_of(node.origin.begin(), node.origin.end(), [&](const core::SourceId source) {
                return std::find(tensor.sources.begin(), tensor.sources.end(), source) !=
                       tensor.sources.end();
            });
        if (!isIts) continue;
        if (node.name == tensor.name) return static_cast<int>(i);
        if (found < 0) found = static_cast<int>(i);
    }
    return found;
}

QString errorSentence(const TensorError& error)
{
    QString out = decibelText(error.sqnrDb);
    if (error.worst < 0) return out;
    out += QObject::tr(", largest difference %1 at element %2 (%3 instead of %4), %5 of %6 outside")
               .arg(digits(error.maxAbs), countText(error.worst), digits(error.worstGot),
                    digits(error.worstWanted), countText(error.outside),
                    countOf(error.elements, QObject::tr("element")));
    if (error.saturated > 0)
        out += QObject::tr(", %1 at an end of their type").arg(countText(error.saturated));
    if (error.steps)
        out += QObject::tr(", %1 steps of its own scale, in its worst part %2")
                   .arg(error.steps->mean, 0, 'f', 1)
                   .arg(error.steps->part, 0, 'f', 1);
    return out;
}

QString unitsText(const core::QuantizedUnits& units)
{
    if (!units.isQuantized()) return {};
    if (units.scales.size() == 1)
        return QObject::tr("scale %1, zero point %2")
            .arg(units.scales[0], 0, 'g', 6)
            .arg(units.zeros.empty() ? 0 : units.zeros[0]);
    const auto [least, most] = std::minmax_element(units.scales.begin(), units.scales.end());
    return QObject::tr("%1 scales along axis %2, %3 to %4")
        .arg(units.scales.size())
        .arg(units.axis)
        .arg(digits(*least), digits(*most));
}

namespace {

CompareVerdict agreement(const core::Comparison& comparison)
{
    CompareVerdict out;
    out.title = QObject::tr("Everything agrees");
    const auto worst =
        std::min_element(comparison.tensors.begin(), comparison.tensors.end(),
                         [](const core::ComparedTensor& a, const core::ComparedTensor& b) {
                             return std::pair(a.cumulative.sqnrDb, !a.isInModel) <
                                    std::pair(b.cumulative.sqnrDb, !b.isInModel);
                         });
    if (worst != comparison.tensors.end())
        out.tensor = static_cast<int>(worst - comparison.tensors.begin());
    QString text = QObject::tr("%1 within tolerance")
                       .arg(comparison.tensors.size() == 1
                                ? QObject::tr("the one tensor is")
                                : QObject::tr("all %1 tensors are")
                                      .arg(countText(qint64(comparison.tensors.size()))));
    if (worst != comparison.tensors.end() && worst->cumulative.sqnrDb == HUGE_VAL)
        text += QObject::tr(", and every value is the reference's");
    else if (worst != comparison.tensors.end())
        text +=
            QObject::tr("; furthest off is %1 with %2")
                .arg(QString::fromStdString(worst->name), decibelText(worst->cumulative.sqnrDb));
    out.details << text;
    return out;
}

/// Its kernel and the nodes of the model that this computes, long names in short.
QString kernelSentence(const core::ComparedTensor& tensor)
{
    constexpr int kMostLetters = 60;
    constexpr size_t kMostNodes = 3;
    QStringList nodes;
    for (size_t i = 0; i < std::min(kMostNodes, tensor.nodes.size()); ++i)
        nodes << shortenedMiddle(QString::fromStdString(tensor.nodes[i]), kMostLetters);
    if (tensor.nodes.size() > kMostNodes)
        nodes << QObject::tr("%1 more").arg(tensor.nodes.size() - kMostNodes);
    const std::string& title = tensor.title.work.empty() ? tensor.function : tensor.title.work;
    return QObject::tr("kernel %1, of %2")
        .arg(QString::fromStdString(title), nodes.join(QStringLiteral(", ")));
}

QString blameText(const core::ComparedTensor& tensor)
{
    if (!tensor.isolated) return {};
    return tensor.isolated->isOutside
               ? QObject::tr("The kernel itself is off: its inputs were those of the reference.")
               : QObject::tr("The kernel itself is within tolerance on the reference's inputs: "
                             "the error came to it.");
}

QString noiseText(const core::ComparedTensor& tensor)
{
    const QString far = decibelText(tensor.noise->sqnrDb);
    return tensor.isNoise()
               ? QObject::tr("Sums in another order move this tensor as far (%1): "
                             "rounding alone can explain the difference.")
                     .arg(far)
               : QObject::tr("Sums in another order alone move this tensor less (%1).").arg(far);
}

QString noiseShareText(const core::Comparison::Share& share)
{
    const auto percent = [&](int64_t outside) {
        return QString::number(100.0 * double(outside) / double(share.elements), 'g', 3);
    };
    return QObject::tr("Of all elements %1 % are outside; sums in another order alone move %2 % "
                       "outside.")
        .arg(percent(share.device), percent(share.noise));
}

} // namespace

CompareVerdict verdictOf(const core::Comparison& comparison)
{
    const auto first = comparison.first();
    const std::vector<size_t> ranked = comparison.ranked();
    if (ranked.empty()) return agreement(comparison);
    const core::ComparedTensor& worst = comparison.tensors[ranked[0]];
    const bool hasFault = worst.isolated && worst.isolated->isOutside;
    if (!first && !hasFault) return agreement(comparison);
    CompareVerdict out;
    out.isWithin = false;
    out.tensor = static_cast<int>(first.value_or(ranked[0]));
    const core::ComparedTensor& tensor = comparison.tensors[static_cast<size_t>(out.tensor)];
    const QString name = QString::fromStdString(tensor.name);
    out.title = first ? QObject::tr("The first tensor outside tolerance is %1").arg(name)
                      : QObject::tr("%1 is outside tolerance on its own").arg(name);
    out.details << kernelSentence(tensor);
    const QString all = errorSentence(tensor.cumulative);
    const QString alone = tensor.isolated ? errorSentence(*tensor.isolated) : QString();
    if (all == alone) {
        out.details << QObject::tr("cumulative and isolated: %1").arg(all);
    } else {
        out.details << QObject::tr("cumulative: %1").arg(all);
        if (tensor.isolated) out.details << QObject::tr("isolated: %1").arg(alone);
    }
    if (const QString blame = blameText(tensor); !blame.isEmpty()) out.details << blame;
    if (tensor.noise) out.details << noiseText(tensor);
    if (const auto share = comparison.noiseShare()) out.details << noiseShareText(*share);
    if (hasFault && &worst != &tensor)
        out.details << QObject::tr("Furthest off on its own is %1: %2")
                           .arg(QString::fromStdString(worst.name),
                                decibelText(worst.isolated->sqnrDb));
    return out;
}

} // namespace tenon::views
