// SPDX-License-Identifier: GPL-3.0-or-later
// BuildOptions: what the window compiles with.
#pragma once

#include <QString>
#include <QStringList>

namespace tenon::views {

struct BuildOptions
{
    QString target = QStringLiteral("llvm -mcpu=native");
    QString executor = QStringLiteral("aot"); ///< graph, aot or vm
    int optLevel = 3;
    int threads = 0; ///< 0: as the target says, and to run with as many as the board has cores
    QString shapes;  ///< as --shape takes them, in one line; in force since the model was opened
    QString planner = QStringLiteral("hill_climb");
    QString workspacePools; ///< of C source: "DTCM=128KiB,SRAM@.sram"; empty: one static array
    QString constantPools;  ///< the same for weights; empty: one by one
    QStringList disabledPasses;
    QStringList passConfig; ///< "relay.FuseOps.max_depth=16"
    friend bool operator==(const BuildOptions&, const BuildOptions&) = default;
};

/// The same for `tenon compile` and its kin, without the model and the target.
QString commandLineOf(const BuildOptions& options);

/// A pass that can be left out.
struct PassChoice
{
    QString name;
    QString phase;
    QString summary;
    int leastLevel = 0; ///< of the levels at which it runs
};

/// A key that PassContext takes.
struct PassKey
{
    QString name;
    QString type; ///< "a truth value (0, 1, true, false)"
};

} // namespace tenon::views
