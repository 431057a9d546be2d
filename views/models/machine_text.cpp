// SPDX-License-Identifier: GPL-3.0-or-later
// The processor where the target names one, else the architecture, else the kind.
#include "views/models/machine_text.h"

#include "core/target/target.h"

#include <QCoreApplication>

namespace tenon::views {

QString machineText(const QString& target)
{
    const auto parsed = core::parseTarget(target.toStdString());
    if (!parsed) return {};
    const auto text = [](const std::string& name) { return QString::fromStdString(name); };
    if (parsed->mcpu == "native") return QCoreApplication::translate("machine", "this computer");
    if (!parsed->mcpu.empty() && parsed->mcpu != "generic") return text(parsed->mcpu);
    if (!parsed->mtriple.empty()) return text(parsed->mtriple).section(QLatin1Char('-'), 0, 0);
    return text(parsed->kind);
}

} // namespace tenon::views
