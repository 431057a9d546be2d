// SPDX-License-Identifier: GPL-3.0-or-later
// Code for other machines on this computer: WebAssembly in Node, other processors in an emulator.
#pragma once

#include "app/engine/deploy_model.h"

namespace tenon::app {

/// What this computer does with code that is not its own; none where it has no means to.
std::optional<views::GuestMachine> guestOf(const QString& target);
/// True when this computer cannot run code for the target by itself.
bool isForeign(const std::string& target);
/// Compiles for the foreign target and measures it here; what is emulated is marked so.
views::DeployOutcome measureHere(const DeployWork& work, core::JobContext& job);

} // namespace tenon::app
