// SPDX-License-Identifier: GPL-3.0-or-later
// What a quantization is asked for and what came of it: the error of every rounded tensor.
#pragma once

#include "views/models/table_model.h"

#include <QString>
#include <QStringList>

namespace tenon::views {

struct QuantizeQuestion
{
    QString model;
    QString data;       ///< folder or file of examples
    QString evaluation; ///< other examples to compare on; empty: those
    QString output;     ///< the file to write
    QString method = QStringLiteral("minmax");
    QString activations = QStringLiteral("int8");
    bool isPerChannel = true;
    bool equalizes = false; ///< channels of consecutive layers
    double largestLoss = 0; ///< share of the outputs; 0: no limit
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
};
using QuantizeModel = TableModel<QuantizeRow>;

QuantizeModel* makeQuantizeModel(QObject* parent);
/// The worst first, with their shares.
std::vector<QuantizeRow> worstFirst(std::vector<QuantizeRow> rows);

struct QuantizeOutcome
{
    std::vector<QuantizeRow> rows;
    QString summary;    ///< one line: operators, bytes, loss of the outputs
    QStringList floats; ///< "name (Softmax): why it stays in float"
    QStringList warnings;
};

} // namespace tenon::views
