// SPDX-License-Identifier: Apache-2.0
// Opening a model that is going to be compiled.
#pragma once

#include "app/cli/command.h"

namespace tenon::cli {

/// Opens without judging the model's own errors; a batch that nobody bound becomes 1, unless the vm
/// executor was asked for, which leaves it open.
Result<OpenedModel> openForBuild(const std::string& path, const CommonOptions& options);

/// The error with what binds all that the model leaves open, where it does.
Diagnostic withProposal(Diagnostic error, const std::string& path, const OpenedModel& opened,
                        const CommonOptions& options);

} // namespace tenon::cli
