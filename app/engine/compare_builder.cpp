// SPDX-License-Identifier: GPL-3.0-or-later
// The comparison of `tenon compare`, and its tensors in files.
#include "app/engine/compare_builder.h"

#include "app/engine/backing.h"
#include "app/engine/kept_tensors.h"
#include "app/runs/comparison_run.h"
#include "compiler/frontend/shape_option.h"

namespace tenon::app {

using core::Result;
using core::Status;

namespace {

Result<runs::ComparedData> dataOf(const views::CompareQuestion& question)
{
    runs::ComparedData data{.model = question.model.toStdString()};
    if (!question.data.isEmpty()) data.inputs = {question.data.toStdString()};
    if (Status bound =
            compiler::readShapeOptions(question.options.shapes.toStdString(), data.bindings);
        !bound)
        return bound.error();
    data.staysOpen = question.options.executor == QLatin1String("vm");
    return data;
}

} // namespace

Result<views::CompareOutcome> compareFile(const EngineOptions& engine,
                                          const views::CompareQuestion& question,
                                          const runs::RunPlace& place, core::JobContext& job)
{
    job.progress(0, "reading model and data");
    auto data = dataOf(question);
    if (!data) return data.error();
    const auto model = runs::openCompared(*data);
    if (!model) return model.error();
    const auto kept = KeptTensors::make();
    if (!kept) return kept.error();
    runs::ComparisonQuestion asked{.data = std::move(*data),
                                   .reference = question.reference.toStdString(),
                                   .options = compileOptions(engine, question.options),
                                   .isolates = question.isolates,
                                   .measuresNoise = question.measuresNoise,
                                   .place = place};
    asked.keep = [&](size_t tensor, const core::Tensor& reference, const core::Tensor& device) {
        return (*kept)->keep(tensor, reference, device);
    };
    auto comparison = runs::runComparison(asked, *model, job);
    if (!comparison) return comparison.error();
    views::CompareOutcome out;
    out.comparison = std::make_shared<const core::Comparison>(std::move(*comparison));
    for (const core::Diagnostic& note : model->notes)
        out.notes << QString::fromStdString(note.message);
    out.backing = *kept;
    return out;
}

Result<views::TensorValues> valuesOf(const views::CompareOutcome& outcome, size_t tensor)
{
    return std::static_pointer_cast<const KeptTensors>(outcome.backing)->values(tensor);
}

} // namespace tenon::app
