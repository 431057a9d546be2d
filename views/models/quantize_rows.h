// SPDX-License-Identifier: GPL-3.0-or-later
// What a quantization is asked for and what came of it: the error of every rounded tensor.
#pragma once

#include "core/ir/node.h"
#include "core/quantize/precision_curve.h"
#include "views/models/table_model.h"

#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <unordered_map>

namespace tenon::views {

struct QuantizeQuestion
{
    QString model;
    QString shapes;     ///< as --shape takes them, in one line
    QString data;       ///< folder or file of examples
    QString evaluation; ///< other examples to compare on; empty: those
    QString output;     ///< the file to write
    QString method = QStringLiteral("minmax");
    QString activations = QStringLiteral("int8");
    bool isPerChannel = true;
    bool equalizes = false; ///< channels of consecutive layers
    bool correctsBias = false;
    QString wider = QStringLiteral("float"); ///< what layers get for which 8 bits are too few
    double largestLoss = 0;                  ///< share of the outputs; 0: no limit
    qint64 largestFlash = 0;                 ///< bytes; 0: no limit
    double largestTime = 0;                  ///< in the place's unit; 0: no limit
    QStringList floatLayers;                 ///< by name
    QStringList wideLayers;                  ///< with data of 16 bits
    bool measuresSensitivity = false;
    bool hasIntegerEnds = false;
    QString target; ///< where the result is to run: `tenon quantize --target`
    QString board;  ///< empty: this computer
    int threads = 0;
    friend bool operator==(const QuantizeQuestion&, const QuantizeQuestion&) = default;
};

/// The same for `tenon quantize`.
QString commandLineOf(const QuantizeQuestion& question);

struct QuantizeRow
{
    QString tensor;
    QString madeBy; ///< operator; empty: an input
    QString type;   ///< of the integers
    double least = 0;
    double greatest = 0;
    double scale = 1;
    qint64 zero = 0;
    double expectedDb = 0;
    double measuredDb = 0;
    double share = 0; ///< of the worst noise, in dB; 0 to 1
    QString node;     ///< that makes it
    double from = 0;  ///< the range that the integers have
    double to = 0;
    double clippedShare = 0;
    std::vector<qint64> counts; ///< of values, from `least` to `greatest`
    core::NodeId nodeId;        ///< in the opened model; invalid: none
};
using QuantizeModel = TableModel<QuantizeRow>;

QuantizeModel* makeQuantizeModel(QObject* parent);
/// The worst first, with their shares.
std::vector<QuantizeRow> worstFirst(std::vector<QuantizeRow> rows);

/// A model where it is to run.
struct PlacedModel
{
    core::ModelCost cost;
    qint64 fileBytes = 0;
};

/// What quantizing costs at a node of the model file.
struct NodeLoss
{
    std::optional<double> measuredDb; ///< of what it makes, with all before it quantized, too
    std::optional<double> aloneDb;    ///< of the outputs, when it alone is quantized
};
struct QuantizationLosses
{
    std::unordered_map<uint32_t, NodeLoss> bySource; ///< by the number of the node in the file
};

struct QuantizeOutcome
{
    std::vector<QuantizeRow> rows;
    std::shared_ptr<const core::PrecisionCosts> costs; ///< of layers; null: not measured
    std::vector<core::CurvePoint> curve;
    core::PrecisionChoice choice; ///< of the written model
    double loss = 0;              ///< of its worst output
    std::optional<PlacedModel> before, after;
    QString place;    ///< where they run
    QString timeUnit; ///< "us" or "instructions"
    bool isEmulated = false;
    QString summary;    ///< one line: operators, bytes, loss of the outputs
    QStringList floats; ///< "name (Softmax): why it stays in float"
    QStringList warnings;
};

} // namespace tenon::views
