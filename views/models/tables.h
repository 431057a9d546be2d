// SPDX-License-Identifier: GPL-3.0-or-later
// The window's tables: changes of a pass, issues, kernel calls, operators, runs of a benchmark.
#pragma once

#include "views/models/document.h"
#include "views/models/table_model.h"

namespace tenon::views {

/// One change of a pass with what it did to the program.
struct DeltaRow
{
    QString rule;
    QString reason;
    int from = 0;
    int to = 0;
    qint64 writtenBytes = 0; ///< change of the bytes that operators write
    QString place;           ///< readable name of the first node
    core::NodeId node;       ///< to go to
};
using DeltaModel = TableModel<DeltaRow>;

struct IssueRow
{
    core::Diagnostic diagnostic;
    core::NodeId node;
};
using IssueModel = TableModel<IssueRow>;

struct CallRow
{
    int index = 0;
    QString name;
    QString sources;
    QString symbol;
    QString method;
    bool doesLess = false; ///< than the direct method, whose work is counted
    QString methodReason;
    double medianUs = -1; ///< negative: not measured
    bool isEmulated = false;
    CostUnit unit = CostUnit::Time; ///< of medianUs
    double share = 0;
    double shareOfSlowest = 0;
    double gflops = 0;
    double shareOfBound = 0; ///< of the least time that the computer allows; 0: not known
    bool isMemoryBound = false;
    double errorShare = 0; ///< see KernelCall
    QString refusedForm;
    core::NodeId node;
};
using CallModel = TableModel<CallRow>;

struct OperatorRow
{
    QString op;
    int count = 0;
    double share = 0;
    core::NodeId first;
};
using OperatorModel = TableModel<OperatorRow>;

DeltaModel* makeDeltaModel(QObject* parent);
IssueModel* makeIssueModel(QObject* parent);
CallModel* makeCallModel(QObject* parent);
OperatorModel* makeOperatorModel(QObject* parent);

std::vector<DeltaRow> deltaRows(const Document& document, size_t version);
/// What all passes behind `before` made together.
std::vector<DeltaRow> deltaRows(const Document& document, size_t before, size_t after);
std::vector<IssueRow> issueRows(const Document& document);
IssueRow issueRow(const Document& document, const core::Diagnostic& diagnostic);
std::vector<CallRow> callRows(const Document& document);
std::vector<OperatorRow> operatorRows(const Document& document);
/// Names of up to three nodes of the model file.
QString sourceNames(const core::Module& module, const std::vector<core::SourceId>& sources);

} // namespace tenon::views
