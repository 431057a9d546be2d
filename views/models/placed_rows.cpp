// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of bytes and times, and nodes by their names.
#include "views/models/placed_rows.h"

#include "views/models/format.h"

#include <QObject>

namespace tenon::views {

namespace {

QString bytesCell(qint64 bytes) { return bytes > 0 ? byteText(bytes) : QObject::tr("not known"); }

TableColumn<PlacedRow> column(const QString& title, QString PlacedRow::*field)
{
    return {.title = title,
            .text = [field](const PlacedRow& row) { return row.*field; },
            .isNumber = true};
}

} // namespace

PlacedModelRows* makePlacedModel(QObject* parent)
{
    TableColumn<PlacedRow> what = column(QString(), &PlacedRow::what);
    what.isNumber = false;
    return new PlacedModelRows({what, column(QObject::tr("Float"), &PlacedRow::before),
                                column(QObject::tr("Written"), &PlacedRow::after),
                                column(QObject::tr("Choice"), &PlacedRow::choice)},
                               parent);
}

std::vector<PlacedRow> placedRows(const QuantizeOutcome& outcome, const PrecisionMix& mix)
{
    if (!outcome.before || !outcome.after) return {};
    const bool isChosen = !mix.isEmpty() && mix.isChanged();
    const auto known = isChosen ? mix.measured() : std::nullopt;
    const core::PredictedCost guess = isChosen ? mix.predicted() : core::PredictedCost();
    const double loss = known ? known->loss : guess.loss;
    const qint64 flash = known ? known->cost.flashBytes : guess.flashBytes;
    const double chosenTime = known ? known->cost.time : guess.time;
    const auto about = [&](const QString& text) {
        return !isChosen ? QString() : known ? text : QStringLiteral("≈ ") + text;
    };
    const core::ModelCost &before = outcome.before->cost, &after = outcome.after->cost;
    const bool isOfTime = outcome.timeUnit == QLatin1String("us");
    const auto time = [&](double value) {
        return isOfTime || value <= 0 ? mixTimeText(value, outcome.timeUnit)
                                      : shortCountText(value);
    };
    return {{QObject::tr("error"), lossText(0), lossText(outcome.loss), about(lossText(loss))},
            {QObject::tr("flash"), bytesCell(before.flashBytes), bytesCell(after.flashBytes),
             about(bytesCell(flash))},
            {QObject::tr("RAM"), bytesCell(before.ramBytes), bytesCell(after.ramBytes),
             known ? bytesCell(known->cost.ramBytes) : QString()},
            {isOfTime ? QObject::tr("time") : QObject::tr("instr."), time(before.time),
             time(after.time), about(time(chosenTime))},
            {QObject::tr("file"),
             bytesCell(outcome.before->fileBytes),
             bytesCell(outcome.after->fileBytes),
             {}}};
}

QString choiceText(const PrecisionMix& mix, double writtenLoss)
{
    const auto count = [&](core::Precision precision) {
        return static_cast<qint64>(mix.layersIn(precision).size());
    };
    const auto all = static_cast<qint64>(mix.costs().layers.size());
    QString text = QObject::tr("%1 of %2 in int8")
                       .arg(count(core::Precision::Int8))
                       .arg(countOf(all, QObject::tr("layer")));
    if (const qint64 wide = count(core::Precision::Int16); wide > 0)
        text += QObject::tr(", %1 with data in int16").arg(wide);
    if (const qint64 floats = count(core::Precision::Float); floats > 0)
        text += QObject::tr(", %1 in float").arg(floats);
    const auto error = [](double loss) { return QObject::tr(" · error %1").arg(lossText(loss)); };
    if (!mix.isChanged()) return text + error(writtenLoss);
    if (const auto known = mix.measured()) return text + error(known->loss);
    return text + QObject::tr(" · about %1").arg(lossText(mix.predicted().loss));
}

core::NodeId nodeNamed(const Document& document, const QString& name)
{
    if (name.isEmpty() || !document.imported.mainId().isValid()) return {};
    const std::string wanted = name.toStdString();
    for (const core::NodeId id : document.imported.main().order)
        if (document.imported.node(id).name == wanted) return id;
    return {};
}

QuantizationLosses lossesOf(const Document& document, const std::vector<QuantizeRow>& tensors,
                            const std::vector<LayerRow>& layers)
{
    QuantizationLosses out;
    const auto at = [&](core::NodeId id, const auto& set) {
        if (!id.isValid()) return;
        for (const core::SourceId source : document.imported.node(id).origin)
            set(out.bySource[source.value]);
    };
    for (const QuantizeRow& tensor : tensors)
        at(tensor.nodeId, [&](NodeLoss& loss) { loss.measuredDb = tensor.measuredDb; });
    for (const LayerRow& layer : layers)
        at(layer.node, [&](NodeLoss& loss) {
            loss.aloneDb = core::decibelsOf(layer.aloneLoss);
            if (layer.measuredDb) loss.measuredDb = layer.measuredDb;
        });
    return out;
}

} // namespace tenon::views
