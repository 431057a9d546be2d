// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of the table of rounded tensors.
#include "views/models/quantize_rows.h"

#include <QObject>

#include <algorithm>

namespace tenon::views {

namespace {

constexpr double kGoodDb = 60; ///< nobody looks at what is better

QString number(double value) { return QString::number(value, 'g', 4); }
QString db(double value) { return QString::number(value, 'f', 1); }

QString word(const QString& text)
{
    return text.contains(QLatin1Char(' ')) ? QLatin1Char('\'') + text + QLatin1Char('\'') : text;
}

QString mixOptions(const QuantizeQuestion& question, const QuantizeQuestion& usual)
{
    QString line;
    if (question.wider != usual.wider) line += QStringLiteral(" --wider ") + question.wider;
    if (question.largestLoss > 0)
        line += QStringLiteral(" --max-loss ") + number(question.largestLoss);
    if (question.largestFlash > 0)
        line += QStringLiteral(" --budget-size %1").arg(question.largestFlash);
    if (question.largestTime > 0)
        line += QStringLiteral(" --budget-time ") + QString::number(question.largestTime, 'g', 12);
    for (const QString& layer : question.floatLayers)
        line += QStringLiteral(" --float-node ") + word(layer);
    for (const QString& layer : question.wideLayers)
        line += QStringLiteral(" --int16-node ") + word(layer);
    if (question.measuresSensitivity) line += QStringLiteral(" --sensitivity");
    if (question.hasIntegerEnds) line += QStringLiteral(" --integer-io");
    return line;
}

QString placeOptions(const QuantizeQuestion& question, const QuantizeQuestion& usual)
{
    QString line;
    if (!question.evaluation.isEmpty())
        line += QStringLiteral(" --evaluate ") + word(question.evaluation);
    if (question.board != usual.board) line += QStringLiteral(" --board ") + word(question.board);
    if (question.target != usual.target && question.target != QLatin1String("llvm -mcpu=native"))
        line += QStringLiteral(" --target ") + word(question.target);
    if (question.threads > 0) line += QStringLiteral(" --threads %1").arg(question.threads);
    return line;
}

} // namespace

QString commandLineOf(const QuantizeQuestion& question)
{
    const QuantizeQuestion usual;
    const QString data = question.data.isEmpty() ? QStringLiteral("FOLDER") : word(question.data);
    QString line = QStringLiteral("tenon quantize %1 --data %2 -o %3")
                       .arg(word(question.model), data, word(question.output));
    for (const QString& shape : question.shapes.split(QLatin1Char(' '), Qt::SkipEmptyParts))
        line += QStringLiteral(" --shape ") + word(shape);
    if (question.method != usual.method) line += QStringLiteral(" --method ") + question.method;
    if (question.activations != usual.activations)
        line += QStringLiteral(" --activations ") + question.activations;
    if (!question.isPerChannel) line += QStringLiteral(" --per-tensor");
    if (question.equalizes) line += QStringLiteral(" --equalize");
    if (question.correctsBias) line += QStringLiteral(" --bias-correction");
    return line + mixOptions(question, usual) + placeOptions(question, usual);
}

QuantizeModel* makeQuantizeModel(QObject* parent)
{
    const auto measured = [](const QuantizeRow& row, int role) -> QVariant {
        if (role == SortRole) return row.share;
        if (role == Qt::ToolTipRole)
            return QObject::tr("Signal to noise against the float model with all that is rounded "
                               "before it; a bar as long as the column has no signal left");
        return {};
    };
    const auto full = [](const QuantizeRow& row, int role) -> QVariant {
        if (role == NodeRole && row.nodeId.isValid()) return QVariant(qint64(row.nodeId.value));
        return role == Qt::ToolTipRole ? QVariant(row.tensor) : QVariant();
    };
    return new QuantizeModel(
        {{QObject::tr("Measured dB"), [](const QuantizeRow& r) { return db(r.measuredDb); }, true,
          measured},
         {QObject::tr("Alone dB"), [](const QuantizeRow& r) { return db(r.expectedDb); }, true},
         {QObject::tr("Made by"),
          [](const QuantizeRow& r) {
              return r.madeBy.isEmpty() ? QObject::tr("input") : r.madeBy;
          }},
         {QObject::tr("Seen"),
          [](const QuantizeRow& r) {
              return QObject::tr("%1 to %2").arg(number(r.least), number(r.greatest));
          }},
         {QObject::tr("Type"), [](const QuantizeRow& r) { return r.type; }},
         {QObject::tr("Scale"), [](const QuantizeRow& r) { return number(r.scale); }, true},
         {QObject::tr("Zero"), [](const QuantizeRow& r) { return QString::number(r.zero); }, true},
         {QObject::tr("Tensor"), [](const QuantizeRow& r) { return r.tensor; }, false, full}},
        parent);
}

std::vector<QuantizeRow> worstFirst(std::vector<QuantizeRow> rows)
{
    for (QuantizeRow& row : rows) row.share = std::clamp(1 - row.measuredDb / kGoodDb, 0.0, 1.0);
    std::stable_sort(rows.begin(), rows.end(), [](const QuantizeRow& a, const QuantizeRow& b) {
        return a.measuredDb < b.measuredDb;
    });
    return rows;
}

} // namespace tenon::views
