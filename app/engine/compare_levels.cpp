// SPDX-License-Identifier: GPL-3.0-or-later
// Rows out of what `tenon bench --levels` prints, too.
#include "app/engine/compare_levels.h"

#include "app/engine/backing.h"
#include "remote/measure/opt_levels.h"

namespace tenon::app {

namespace {

views::LevelRow rowOf(const remote::OptLevel& level)
{
    constexpr double kUs = 1000;
    const remote::Summary& time = level.timing.summaryMs;
    return {level.level,
            time.median * kUs,
            time.ci95Low * kUs,
            time.ci95High * kUs,
            level.isEmulated,
            static_cast<int>(level.calls),
            static_cast<int>(level.kernels),
            level.memory.workspaceBytes,
            level.memory.constantBytes,
            level.fileBytes,
            time.areInstructions ? views::CostUnit::Instructions : views::CostUnit::Time};
}

} // namespace

core::Result<std::vector<views::LevelRow>> compareLevels(const EngineOptions& engine,
                                                         const views::DocumentPtr& document,
                                                         const views::BuildOptions& build,
                                                         const views::Engine::LevelWatch& watch,
                                                         core::JobContext& job)
{
    const remote::SamplingLimits usual = remote::kUsualSampling;
    remote::LevelsRequest request{.loaded = backingOf(document)->loaded,
                                  .options = compileOptions(engine, build)};
    request.timing.minRepeatMs = 20;
    request.timing.repeat = engine.repeats > 0 ? engine.repeats : usual.samples;
    if (engine.repeats <= 0) {
        request.timing.budgetS = usual.budgetS;
        request.timing.precision = usual.precision;
    }
    std::vector<views::LevelRow> rows;
    request.done = [&](const remote::OptLevel& level) {
        rows.push_back(rowOf(level));
        watch(views::sharedOut(rows));
    };
    if (const auto measured = remote::measureLevels(request, job); !measured)
        return measured.error();
    return views::sharedOut(rows);
}

} // namespace tenon::app
