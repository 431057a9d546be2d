// SPDX-License-Identifier: GPL-3.0-or-later
// What the Deploy page says before anything was deployed.
#include "views/pages/deploy/deploy_page.h"

namespace tenon::views {

/// What the button does, or why it will not work.
QString DeployPage::deployAdvice() const
{
    const BoardsState& boards = m_boards.state();
    const bool isHere = m_boards.board().isHere();
    if (!m_workspace.document())
        return tr("Open a model first; then one click compiles it for the board, runs and measures "
                  "it there.");
    if (boards.state == BoardState::Guest && boards.guest->isEmulated)
        return boards.guest->countsInstructions
                   ? tr("Deploy & Benchmark compiles the model for %1, runs it in an emulator on "
                        "this computer and counts its instructions; times take a board.")
                         .arg(boards.machine)
                   : tr("Deploy & Benchmark compiles the model for %1, runs it in an emulator on "
                        "this computer and measures that: the times are not silicon's.")
                         .arg(boards.machine);
    if (boards.state == BoardState::Mismatch)
        return tr("The target makes code for %1, which %2 is not. Choose %2 among the boards "
                  "(Ctrl+B) to take its target, or a board that fits.")
            .arg(boards.machine, m_boards.board().titleInText());
    return isHere ? tr("Deploy & Benchmark compiles the model, runs it in a process of its own on "
                       "this computer and measures it.")
                  : tr("Deploy & Benchmark compiles the model for the board, checks that it can "
                       "run there, sends it, runs and measures it. Nothing needs to be installed "
                       "on the board, and nothing stays there.");
}

} // namespace tenon::views
