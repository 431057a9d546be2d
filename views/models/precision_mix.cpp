// SPDX-License-Identifier: GPL-3.0-or-later
// Choices, predictions, and columns.
#include "views/models/precision_mix.h"

#include "views/models/format.h"

#include <QObject>

#include <algorithm>
#include <cmath>

namespace tenon::views {

using core::Precision;

namespace {

constexpr size_t kInt8 = 0, kInt16 = 1, kFloat = 2;

QString text(std::string_view value)
{
    return QString::fromUtf8(value.data(), static_cast<qsizetype>(value.size()));
}

MixDot dotOf(const core::CurvePoint& point, MixAxis axis)
{
    const auto& predicted = point.predicted;
    return {axis == MixAxis::Flash ? static_cast<double>(predicted.flashBytes) : predicted.time,
            predicted.loss, false, point.widerLayers};
}

MixDot measuredDot(const core::MeasuredCost& measured, size_t widerLayers, MixAxis axis)
{
    return {axis == MixAxis::Flash ? static_cast<double>(measured.cost.flashBytes)
                                   : measured.cost.time,
            measured.loss, true, widerLayers};
}

QVariant precisionExtra(const LayerRow& row, int role)
{
    if (role == StrongRole) return row.isPinned;
    if (role == Qt::ToolTipRole)
        return row.isPinned ? QObject::tr("Asked for: it stays so wherever the choice is on the "
                                          "curve. Space or the right button changes it")
                            : QObject::tr("As the choice on the curve has it. Space or the right "
                                          "button asks for another");
    return {};
}

QVariant nameExtra(const LayerRow& row, int role)
{
    if (role == NodeRole && row.node.isValid()) return QVariant(qint64(row.node.value));
    if (role == Qt::ToolTipRole) return row.name;
    return {};
}

TableColumn<LayerRow> number(const QString& title, const QString& tip,
                             std::function<QString(const LayerRow&)> text,
                             std::function<QVariant(const LayerRow&)> key)
{
    return {.title = title,
            .text = std::move(text),
            .isNumber = true,
            .extra = [tip](const LayerRow&, int role) -> QVariant {
                return role == Qt::ToolTipRole ? QVariant(tip) : QVariant();
            },
            .key = std::move(key),
            .unit = QStringLiteral("")};
}

QString timeCell(double time)
{
    constexpr double kManyDigits = 100;
    if (time <= 0) return {};
    return time < kManyDigits ? QString::number(time, 'f', 1) : countText(qRound64(time));
}

QString instructionCell(double count) { return count > 0 ? shortCountText(count) : QString(); }

/// What a kernel takes; the heading has the unit, the cells have none.
TableColumn<LayerRow> timeColumn(const QString& precision, const QString& tip,
                                 double LayerRow::*time)
{
    TableColumn<LayerRow> column = number(
        precision, tip,
        [time](const LayerRow& r) {
            return r.isOfTime ? timeCell(r.*time) : instructionCell(r.*time);
        },
        [time](const LayerRow& r) { return QVariant(r.*time); });
    column.heading = [precision](const LayerRow& r) {
        if (r.isOfTime) return std::pair(precision + QStringLiteral(" µs"), QStringLiteral("µs"));
        return std::pair(precision + QObject::tr(" instr."), QObject::tr("instructions"));
    };
    return column;
}

TableColumn<LayerRow> aloneColumn()
{
    TableColumn<LayerRow> column = number(
        QObject::tr("Alone"), {}, [](const LayerRow& r) { return lossText(r.aloneLoss); },
        [](const LayerRow& r) { return QVariant(r.aloneLoss); });
    column.extra = [](const LayerRow& row, int role) -> QVariant {
        if (role == FigureRole) return row.share;
        if (role == Qt::ToolTipRole)
            return QObject::tr("Error of the outputs when this layer alone has 8 bits, as a share "
                               "of them");
        return {};
    };
    return column;
}

} // namespace

QString lossText(double loss)
{
    constexpr double kPercent = 100, kSmall = 0.1, kTiny = 1e-3, kLeast = 1e-9;
    const double percent = loss * kPercent;
    if (std::abs(percent) < kTiny && std::abs(percent) > kLeast) { // two digits that count
        const int digits = 1 - static_cast<int>(std::floor(std::log10(std::abs(percent))));
        return QStringLiteral("%1 %").arg(percent, 0, 'f', digits);
    }
    if (std::abs(percent) < kTiny) return QStringLiteral("%1 %").arg(percent, 0, 'g', 2);
    return QStringLiteral("%1 %").arg(percent, 0, 'f', percent < kSmall ? 4 : 2);
}

QString plainPercentText(double share)
{
    QString text = QString::number(share * 100, 'f', 9);
    while (text.endsWith(QLatin1Char('0'))) text.chop(1);
    if (text.endsWith(QLatin1Char('.'))) text.chop(1);
    return text + QStringLiteral(" %");
}

QString mixTimeText(double time, const QString& unit)
{
    if (time <= 0) return QObject::tr("not known");
    return unit == QLatin1String("us") ? durationText(time)
                                       : shortCountText(time) + QStringLiteral(" instructions");
}

LayerModel* makeLayerModel(QObject* parent)
{
    return new LayerModel(
        {{.title = QObject::tr("Layer"),
          .text = [](const LayerRow& r) { return r.name; },
          .isNumber = false,
          .extra = nameExtra},
         {.title = QObject::tr("Bits"),
          .text = [](const LayerRow& r) { return text(core::nameOf(r.precision)); },
          .isNumber = false,
          .extra = precisionExtra},
         aloneColumn(),
         number(
             QObject::tr("In 16 bits"), QObject::tr("The same when its data have 16 bits"),
             [](const LayerRow& r) { return r.wideLoss > 0 ? lossText(r.wideLoss) : QString(); },
             [](const LayerRow& r) { return QVariant(r.wideLoss); }),
         number(
             QObject::tr("dB now"),
             QObject::tr("Signal to noise of what the layer makes in the written model, with "
                         "all that is quantized before it"),
             [](const LayerRow& r) {
                 return r.measuredDb ? QString::number(*r.measuredDb, 'f', 1) : QString();
             },
             [](const LayerRow& r) { return r.measuredDb ? QVariant(*r.measuredDb) : QVariant(); }),
         number(
             QObject::tr("Weights"), QObject::tr("Their bytes in the precision chosen"),
             [](const LayerRow& r) { return byteText(r.weightBytes); },
             [](const LayerRow& r) { return QVariant(r.weightBytes); }),
         timeColumn(QObject::tr("int8"),
                    QObject::tr("Time of its kernel where all layers have 8 bits"),
                    &LayerRow::int8Time),
         timeColumn(QObject::tr("float"), QObject::tr("Time of its kernel in the float model"),
                    &LayerRow::floatTime)},
        parent);
}

PrecisionMix::PrecisionMix(const core::PrecisionCosts& costs,
                           const std::vector<core::CurvePoint>& curve,
                           const core::PrecisionChoice& choice)
    : m_costs(costs)
    , m_measured(curve)
    , m_written(choice)
{
    for (m_wider = 0; m_wider < curve.size(); ++m_wider)
        if (core::widened(m_costs, m_wider) == choice) return;
    // No point of the curve: everything that is not 8 bits was asked for.
    m_wider = 0;
    for (size_t i = 0; i < choice.size(); ++i)
        if (choice[i] != Precision::Int8) m_costs.layers[i].pinned = choice[i];
}

void PrecisionMix::pin(size_t layer, std::optional<Precision> precision)
{
    if (layer >= m_costs.layers.size() || m_costs.layers[layer].pinned == precision) return;
    // What is wider now keeps being so, as far as there are layers left to choose.
    m_costs.layers[layer].pinned = precision;
    m_hasPins = true;
    m_wider = std::min(m_wider, core::byHarm(m_costs).size());
}

void PrecisionMix::setWider(size_t count)
{
    m_wider = std::min(count, core::byHarm(m_costs).size());
}

void PrecisionMix::noteWritten(const core::MeasuredCost& measured)
{
    m_written = choice();
    m_wasWrittenByHand = true;
    m_others.push_back({m_written, measured});
}

std::optional<core::MeasuredCost> PrecisionMix::measured() const
{
    const core::PrecisionChoice now = choice();
    for (auto other = m_others.rbegin(); other != m_others.rend(); ++other)
        if (other->choice == now) return other->cost;
    if (m_hasPins || m_wider >= m_measured.size()) return std::nullopt;
    return m_measured[m_wider].measured;
}

QStringList PrecisionMix::layersIn(Precision precision) const
{
    QStringList names;
    const core::PrecisionChoice now = choice();
    for (size_t i = 0; i < now.size(); ++i)
        if (now[i] == precision) names << text(m_costs.layers[i].layer);
    return names;
}

MixCurve PrecisionMix::curve(MixAxis axis) const
{
    MixCurve out{.axis = axis,
                 .timeUnit = text(m_costs.timeUnit),
                 .wider = text(core::nameOf(m_costs.wider))};
    const bool isKnown =
        axis == MixAxis::Flash ? m_costs.in8Bits.flashBytes > 0 : m_costs.knowsTimes();
    if (!isKnown) {
        out.problem = axis == MixAxis::Flash ? QObject::tr("The size was not measured")
                                             : QObject::tr("Times were not measured");
        return out;
    }
    for (const core::CurvePoint& point : core::predictedCurve(m_costs))
        out.predicted.push_back(dotOf(point, axis));
    for (const core::CurvePoint& point : m_measured)
        if (point.measured && !m_hasPins)
            out.measured.push_back(measuredDot(*point.measured, point.widerLayers, axis));
    for (const Other& other : m_others)
        out.measured.push_back(measuredDot(other.cost, m_wider, axis));
    const auto known = measured();
    out.chosen =
        known ? measuredDot(*known, m_wider, axis) : dotOf({m_wider, predicted(), {}}, axis);
    return out;
}

std::vector<LayerRow> PrecisionMix::rows() const
{
    const core::PrecisionChoice now = choice();
    double most = 0;
    for (const core::LayerCost& layer : m_costs.layers) most = std::max(most, layer.loss[kInt8]);
    std::vector<LayerRow> out;
    for (size_t i = 0; i < now.size(); ++i) {
        const core::LayerCost& layer = m_costs.layers[i];
        out.push_back({.layer = i,
                       .name = text(layer.layer),
                       .op = text(layer.op),
                       .precision = now[i],
                       .isPinned = layer.pinned.has_value(),
                       .aloneLoss = layer.loss[kInt8],
                       .wideLoss = layer.loss[kInt16],
                       .measuredDb = {},
                       .weightBytes = layer.weightBytes[static_cast<size_t>(now[i])],
                       .int8Time = layer.time[kInt8],
                       .floatTime = layer.time[kFloat],
                       .isOfTime = m_costs.timeUnit == "us",
                       .share = most > 0 ? layer.loss[kInt8] / most : 0,
                       .node = {}});
    }
    return out;
}

} // namespace tenon::views
