// SPDX-License-Identifier: Apache-2.0
// The model that is compared, as its data want it, and the data.
#pragma once

#include "app/runs/given_tensors.h"
#include "compiler/compare/compare.h"
#include "compiler/frontend/loaded.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenon::runs {

/// What somebody wants compared, besides where and against what.
struct ComparedData
{
    std::string model;               ///< a file, or a folder with one
    std::vector<std::string> inputs; ///< folders are a data set each, files together one; empty:
                                     ///< those beside the model, else made up
    compiler::ImportOptions bindings;
    bool staysOpen = false; ///< sizes that nobody binds are known at run time only
};

struct ComparedModel
{
    std::string path; ///< of its file
    std::shared_ptr<const compiler::Loaded> loaded;
    std::vector<compiler::NamedValues> sets; ///< none where the model has errors of its own
    std::vector<Diagnostic> notes;           ///< data that were made up or left out
};

/// The file, or that in the folder; "" where there is none.
std::string modelAt(const std::string& path);

/// Errors: BadArgument, ShapeMismatch for data that do not fit the model, what reading it gives.
Result<ComparedModel> openCompared(const ComparedData& data);

/// The error with what binds all that the model leaves open, where it does.
Diagnostic withProposal(Diagnostic error, const std::string& path, const compiler::Loaded& loaded,
                        const compiler::ImportOptions& bindings);

} // namespace tenon::runs
