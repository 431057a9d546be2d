// SPDX-License-Identifier: GPL-3.0-or-later
// What the window asks of projects that make firmware of a model.
#pragma once

#include "core/jobs/job.h"
#include "views/models/document.h"
#include "views/presenters/build_options.h"

#include <functional>
#include <vector>

namespace tenon::views {

/// A kind of project.
struct ProjectKind
{
    QString name; ///< "baremetal-mps2"
    QString title;
    QString target; ///< what it compiles for unless the window's target is C source, too
};

/// What to make of the opened model.
struct ProjectQuestion
{
    QString kind;
    QString folder;
    BuildOptions options;
};

struct ProjectEngine
{
    std::function<std::vector<ProjectKind>()> kinds;
    /// Whether the window's target is one of C source, for which projects are made.
    std::function<bool(const QString& target)> isOfC;
    /// Compiles into a new folder.
    std::function<core::Status(DocumentPtr, const ProjectQuestion&, core::JobContext&)> create;
    /// `make` with one of the Makefile's targets (all, flash, run); what it printed, and what a run
    /// computed.
    std::function<core::Result<QString>(const QString& folder, const QString& step,
                                        core::JobContext&)>
        make;
};

} // namespace tenon::views
