// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of the Memory page: buffers, planners, and what the charts draw. Tables and charts are made
// from the same rows.
#pragma once

#include "views/models/document.h"
#include "views/models/table_model.h"

namespace tenon::views {

/// One buffer: a row of the table and a rectangle of the map.
struct BufferRow
{
    int buffer = -1; ///< index into MemoryPlan::buffers
    QString label;   ///< short: "t3"
    QString name;    ///< of the tensor in the program
    QString origin;  ///< the last node of the model that it comes from
    QString type;
    QString writer; ///< name of the call that writes it
    QString lastReader;
    QString pool; ///< empty when there is only one
    qint64 bytes = 0;
    qint64 paddingBytes = 0;
    qint64 offset = 0; ///< in its pool
    qint64 bottom = 0; ///< in the map: pools stand on one another
    int firstCall = 0;
    int lastCall = 0;
    double share = 0;  ///< of the largest buffer
    core::NodeId node; ///< written by
};
using BufferModel = TableModel<BufferRow>;

BufferModel* makeBufferModel(QObject* parent);
std::vector<BufferRow> bufferRows(const Document& document, const MemoryPlan& plan);
/// Neighbours differ: which of the theme's colours a buffer has.
int colourOf(const BufferRow& row);
/// Those of `rows` that are alive at a call, largest first.
std::vector<BufferRow> aliveRows(const std::vector<BufferRow>& rows, int call);

/// A planner, or the arena that reuses nothing for comparison.
struct PlannerRow
{
    QString algorithm;
    QString doc;
    QString problem; ///< non-empty: why there is no plan
    qint64 bytes = 0;
    double ratio = 0; ///< to the lower bound; 0 when there is none
    double ms = -1;   ///< negative: not run
    double share = 0; ///< of the largest in the list
    bool isProvenOptimal = false;
    bool isAtBound = false;
    bool isChosen = false;
    bool isReference = false; ///< cannot be chosen
};
using PlannerModel = TableModel<PlannerRow>;

/// "= bound", "×1.083"; empty for planners without a plan.
QString ratioText(const PlannerRow& row);
PlannerModel* makePlannerModel(QObject* parent);
std::vector<PlannerRow> plannerRows(const MemoryPlan& plan);

/// A line of "why is it alive?".
struct MemoryFact
{
    QString label;
    QString value;
    core::NodeId node; ///< to go to
};
using MemoryFactModel = TableModel<MemoryFact>;
MemoryFactModel* makeMemoryFactModel(QObject* parent);

/// The curve of live bytes and the lines across it.
struct LiveCurve
{
    std::vector<qint64> bytes; ///< per call
    qint64 arenaBytes = 0;
    qint64 boundBytes = 0;
    int peakCall = -1; ///< first call at the peak
};
LiveCurve liveCurve(const MemoryPlan& plan);

/// A step of the curve.
struct LiveRow
{
    int call = 0;
    QString name;
    QString sources; ///< nodes of the model file that the call computes
    qint64 bytes = 0;
    double share = 0; ///< of the peak
    core::NodeId node;
};
using LiveModel = TableModel<LiveRow>;
LiveModel* makeLiveModel(QObject* parent);
std::vector<LiveRow> liveRows(const Document& document, const LiveCurve& curve);

/// A horizontal stretch of the map that belongs to one pool.
struct PoolBand
{
    QString name;
    qint64 bottom = 0;
    qint64 peakBytes = 0;
    qint64 budgetBytes = MemoryPool::kUnlimited;
    qint64 heightBytes() const { return budgetBytes > 0 ? budgetBytes : peakBytes; }
};
std::vector<PoolBand> poolBands(const MemoryPlan& plan);

} // namespace tenon::views
