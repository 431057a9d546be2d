// SPDX-License-Identifier: Apache-2.0
// Where the time of a run went, as JSON and as text: bench --explain.
#pragma once

#include "app/cli/command.h"
#include "remote/roofline/speed_audit.h"

namespace tenon::cli {

Json auditJson(const remote::SpeedAudit& audit);
std::string auditText(const remote::SpeedAudit& audit);

} // namespace tenon::cli
