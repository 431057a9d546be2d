// SPDX-License-Identifier: GPL-3.0-or-later
// Options as the command line writes them.
#include "views/presenters/build_options.h"

namespace tenon::views {

QString commandLineOf(const BuildOptions& options)
{
    const BuildOptions usual;
    QStringList words;
    if (options.optLevel != usual.optLevel)
        words << QStringLiteral("--opt-level %1").arg(options.optLevel);
    if (options.executor != usual.executor)
        words << QStringLiteral("--executor ") + options.executor;
    if (options.threads != usual.threads)
        words << QStringLiteral("--threads %1").arg(options.threads);
    if (options.planner != usual.planner)
        words << QStringLiteral("--usmp-algorithm ") + options.planner;
    if (!options.workspacePools.isEmpty())
        words << QStringLiteral("--workspace-pools ") + options.workspacePools;
    if (!options.constantPools.isEmpty())
        words << QStringLiteral("--constant-pools ") + options.constantPools;
    if (!options.disabledPasses.isEmpty())
        words << QStringLiteral("--disable-pass ") + options.disabledPasses.join(QLatin1Char(','));
    for (const QString& key : options.passConfig) words << QStringLiteral("--pass-config ") + key;
    return words.join(QLatin1Char(' '));
}

} // namespace tenon::views
