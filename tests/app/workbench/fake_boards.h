// SPDX-License-Identifier: GPL-3.0-or-later
// Boards that are not there: the window's engine with a list, probes and deployments made up in
// memory, so that tests of the window start no program and reach no host.
#pragma once

#include "views/presenters/engine.h"

namespace tenon::tests {

/// Replaces `engine.boards`: four boards to begin with, one of which always fails and one of which
/// asks about its host key; a deployment compiles for real and makes up the times.
void useFakeBoards(views::Engine& engine);

} // namespace tenon::tests
