// SPDX-License-Identifier: GPL-3.0-or-later
// BuildOptions: what the window compiles with.
#pragma once

#include <QString>

namespace tenon::views {

struct BuildOptions
{
    QString target = QStringLiteral("llvm -mcpu=native");
    int optLevel = 3;
    int threads = 0; ///< 0: as the target says, and to run with as many as the board has cores
    QString shapes;  ///< as --shape takes them, in one line; in force since the model was opened
    QString planner = QStringLiteral("hill_climb");
    friend bool operator==(const BuildOptions&, const BuildOptions&) = default;
};

} // namespace tenon::views
