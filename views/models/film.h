// SPDX-License-Identifier: GPL-3.0-or-later
// Film: one node of the model file in every version that touched it, a frame for each.
#pragma once

#include "core/ir/follow.h"
#include "views/models/document.h"
#include "views/models/table_model.h"

namespace tenon::views {

/// One operator of the kernel that a frame shows.
struct FilmRow
{
    QString title;
    bool isFollowed = false;
};

struct FilmFrame
{
    int version = 0;
    QString pass;
    QString where;  ///< "row 1 of kernel 5"
    QString rules;  ///< that touched it; empty for the module as imported
    QString reason; ///< of the first of them
    QString kernel; ///< around it; empty: it stands alone
    std::vector<FilmRow> rows;
    core::NodeId node; ///< invalid: nothing computes it
};
using FilmModel = TableModel<FilmFrame>;

FilmModel* makeFilmModel(QObject* parent);
std::vector<FilmFrame> filmOf(const Document& document, core::SourceId source);

/// A node of the model file by name, and where it is in one version.
struct FoundSource
{
    core::SourceId source;
    QString name;
    QString op;
    QString where;
    core::NodeId node; ///< the kernel call around it, or itself; invalid: nothing computes it
};
std::vector<FoundSource> foundSources(const core::Module& module);

} // namespace tenon::views
