// SPDX-License-Identifier: GPL-3.0-or-later
// Which figures a document has.
#include "views/scene/card_looks.h"

#include "core/compare/comparison.h"
#include "views/models/compare_rows.h"
#include "views/models/format.h"
#include "views/models/quantize_rows.h"

#include <QObject>

#include <algorithm>

namespace tenon::views {

namespace {

bool hasBounds(const Document& document)
{
    if (!document.measurement) return false;
    const auto& calls = document.measurement->calls;
    return std::any_of(calls.begin(), calls.end(),
                       [](const CallTime& call) { return call.boundUs > 0; });
}

bool hasLoss(const Document& document, std::optional<double> NodeLoss::*which)
{
    if (!document.quantization) return false;
    const auto& nodes = document.quantization->bySource;
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](const auto& node) { return (node.second.*which).has_value(); });
}

bool hasIsolated(const Document& document)
{
    if (!document.comparison) return false;
    const auto& tensors = document.comparison->tensors;
    return std::any_of(tensors.begin(), tensors.end(),
                       [](const core::ComparedTensor& tensor) { return tensor.isolated; });
}

} // namespace

bool canChooseFigure(const Document& document)
{
    return document.measurement && document.expectedError > 0;
}

CardLooks withOtherFigure(const Document& document, CardLooks looks)
{
    if (!canChooseFigure(document)) return looks;
    return looks.figure == CardFigure::Error ? CardFigure::Time : CardFigure::Error;
}

std::vector<CardLooks> colourings(const Document& document)
{
    std::vector<CardLooks> all{CardLooks()};
    const auto add = [&](bool isThere, CardFigure figure) {
        if (isThere) all.emplace_back(figure, true);
    };
    add(document.measurement.has_value(), CardFigure::Time);
    add(!document.macs.empty(), CardFigure::Macs);
    add(true, CardFigure::Bytes);
    add(hasBounds(document), CardFigure::Bound);
    add(document.expectedError > 0, CardFigure::Error);
    add(document.comparison != nullptr, CardFigure::CumulativeError);
    add(hasIsolated(document), CardFigure::IsolatedError);
    add(hasLoss(document, &NodeLoss::measuredDb), CardFigure::QuantizedError);
    add(hasLoss(document, &NodeLoss::aloneDb), CardFigure::Sensitivity);
    return all;
}

CardLooks nextColouring(const Document& document, CardLooks looks)
{
    const std::vector<CardLooks> all = colourings(document);
    const auto now = std::find_if(all.begin(), all.end(), [&](const CardLooks& other) {
        return looks.isColoured && other.isColoured && other.figure == looks.figure;
    });
    CardLooks next = now == all.end() ? all[1] : now + 1 == all.end() ? all.front() : *(now + 1);
    next.hasLegend = true;
    return next;
}

QString colouringText(CardLooks looks, CostUnit unit)
{
    if (!looks.isColoured) return QObject::tr("type");
    switch (looks.figure) {
    case CardFigure::Time:
        return unit == CostUnit::Time ? QObject::tr("time") : QObject::tr("instructions");
    case CardFigure::Error: return QObject::tr("expected error");
    case CardFigure::Macs: return QObject::tr("MACs");
    case CardFigure::Bytes: return QObject::tr("bytes");
    case CardFigure::Bound: return QObject::tr("share of bound");
    case CardFigure::CumulativeError: return QObject::tr("error, cumulative");
    case CardFigure::IsolatedError: return QObject::tr("error, isolated");
    case CardFigure::QuantizedError: return QObject::tr("quantized, error");
    case CardFigure::Sensitivity: return QObject::tr("quantized, sensitivity");
    }
    return {};
}

QString figureText(CardFigure figure, double value, CostUnit unit)
{
    switch (figure) {
    case CardFigure::Time: return costText(value, unit);
    case CardFigure::Error: return QStringLiteral("error ") + errorText(value);
    case CardFigure::Macs: return shortCountText(value) + QStringLiteral(" MACs");
    case CardFigure::Bytes: return byteText(static_cast<qint64>(value));
    case CardFigure::Bound: return QStringLiteral("%1 %").arg(qRound(value * 100));
    case CardFigure::CumulativeError:
    case CardFigure::IsolatedError:
    case CardFigure::QuantizedError:
    case CardFigure::Sensitivity: return decibelText(value);
    }
    return {};
}

} // namespace tenon::views
