// SPDX-License-Identifier: GPL-3.0-or-later
// What a comparison is asked for and what comes of it.
#pragma once

#include "core/compare/comparison.h"
#include "core/tensor/tensor.h"
#include "views/presenters/build_options.h"

#include <memory>

namespace tenon::views {

struct CompareQuestion
{
    QString model; ///< its file
    BuildOptions options;
    QString board;                              ///< empty: this computer
    QString reference = QStringLiteral("opt0"); ///< as `tenon compare --reference` takes it
    QString data;               ///< folder; empty: those beside the model, else made up
    bool isolates = true;       ///< every kernel alone on the reference's inputs, too
    bool measuresNoise = false; ///< what rounding alone moves
    friend bool operator==(const CompareQuestion&, const CompareQuestion&) = default;
};

/// The same for `tenon compare`.
QString commandLineOf(const CompareQuestion& question);

struct CompareOutcome
{
    std::shared_ptr<const core::Comparison> comparison;
    QStringList notes;                   ///< on the data: made up, left out
    std::shared_ptr<const void> backing; ///< the engine's own, for values of tensors
};

/// Of one tensor, in the model's form.
struct TensorValues
{
    core::Tensor reference;
    core::Tensor device;
};

} // namespace tenon::views
