// SPDX-License-Identifier: GPL-3.0-or-later
// The table of a comparison's tensors, and what it comes to in words.
#pragma once

#include "core/compare/comparison.h"
#include "views/models/document.h"
#include "views/models/table_model.h"

namespace tenon::views {

struct CompareRow
{
    size_t tensor = 0; ///< of the comparison
    int call = 0;
    QString name; ///< in parentheses where only the compiled program has it
    QString type;
    QString form; ///< how the program holds it; empty: as the model does
    QString kernel;
    QString function;
    QString nodes;
    core::TensorError cumulative;
    std::optional<core::TensorError> isolated;
    std::optional<core::TensorError> noise; ///< what rounding alone moves
    bool isFirst = false;                   ///< outside of tolerance
    core::NodeId node;                      ///< of the model; invalid: none
};
using CompareModel = TableModel<CompareRow>;

CompareModel* makeCompareModel(QObject* parent);
/// In execution order; nodes are looked up in `document`, which is of the same file.
std::vector<CompareRow> compareRows(const core::Comparison& comparison, const Document& document);

/// Index of the tensor that the node of any version gives, else of the kernel that computes it; -1:
/// the comparison has none.
int tensorOfNode(const core::Comparison& comparison, const core::NodeRecord& node);

/// "within", "first outside", "outside", "own" of a row: see the manual.
QString verdictText(const CompareRow& row);
/// 0: within tolerance, 1: what it computes or what it was handed is off, 2: its own kernel is off.
int severityOf(const CompareRow& row);

/// What a comparison comes to.
struct CompareVerdict
{
    QString title;
    QStringList details; ///< kernel and nodes, both errors, who is to blame
    bool isWithin = true;
    int tensor = -1; ///< that it is about: of those within tolerance the furthest off; -1: none
};
CompareVerdict verdictOf(const core::Comparison& comparison);

/// "98.2 dB", "exact", "no signal".
QString decibelText(double sqnrDb);
/// "98.2 dB, largest difference 0.5 at element 12 (1.2 instead of 0.7), 3 of 100 elements outside".
QString errorSentence(const core::TensorError& error);
/// "scale 0.05, zero point -3", "32 scales along axis 0, 0.01 to 0.2"; empty: numbers are
/// themselves.
QString unitsText(const core::QuantizedUnits& units);

} // namespace tenon::views
