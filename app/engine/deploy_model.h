// SPDX-License-Identifier: GPL-3.0-or-later
// One deployment of a document: compiled for the board, measured there, written into the history.
#pragma once

#include "app/engine/engine.h"
#include "remote/deploy/deployer.h"
#include "remote/roofline/known_peaks.h"

namespace tenon::app {

struct DeployWork
{
    const EngineOptions& engine;
    const views::DeployQuestion& question;
    const remote::Board& board;
    const views::DeployWatcher& watch;
    remote::KnownPeaks& peaks; ///< of this computer
};

/// How the window measures: within the budget of the question, or as often as the engine says.
remote::TimingRequest timingFor(const DeployWork& work, bool isEmulated);
views::DeployOutcome deployModel(const DeployWork& work, remote::Deployer& deployer,
                                 core::JobContext& job);

} // namespace tenon::app
