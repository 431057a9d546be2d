// SPDX-License-Identifier: GPL-3.0-or-later
// What a model takes where it is to run, before and after quantizing and as it is chosen now; and
// its losses on the nodes of the opened model.
#pragma once

#include "views/models/document.h"
#include "views/models/precision_mix.h"

namespace tenon::views {

/// One quantity.
struct PlacedRow
{
    QString what;
    QString before;
    QString after;
    QString choice; ///< predicted; empty: it is what is written
};
using PlacedModelRows = TableModel<PlacedRow>;

PlacedModelRows* makePlacedModel(QObject* parent);
std::vector<PlacedRow> placedRows(const QuantizeOutcome& outcome, const PrecisionMix& mix);

/// "5 of 8 layers in int8, 3 in float · about 0.41 %"; the measured loss where that is written.
QString choiceText(const PrecisionMix& mix, double writtenLoss);

/// Of the model as opened; invalid: none has that name.
core::NodeId nodeNamed(const Document& document, const QString& name);
QuantizationLosses lossesOf(const Document& document, const std::vector<QuantizeRow>& tensors,
                            const std::vector<LayerRow>& layers);

} // namespace tenon::views
