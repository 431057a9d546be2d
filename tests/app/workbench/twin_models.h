// SPDX-License-Identifier: GPL-3.0-or-later
// Models that pages and command line are asked about, and what the command line says.
#pragma once

#include "tests/zoo/zoo.h"

#include <QString>
#include <QStringList>

#include <nlohmann/json.hpp>

#include <vector>

namespace tenon::test {

struct TwinModel
{
    const char* name;
    ZooOptions options;
};

/// Twenty: one of each architecture, narrow and small.
const std::vector<TwinModel>& twinModels();
/// Its file, which is written there.
QString writeModel(const TwinModel& model, const QString& folder);
/// What the command line prints with --json; no object when it fails, and then why on stderr.
nlohmann::json said(QStringList arguments);

} // namespace tenon::test
