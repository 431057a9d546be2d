// SPDX-License-Identifier: Apache-2.0
// Choosing the way to a board.
#include "remote/deploy/board_link.h"

#include "remote/deploy/local_link.h"
#include "remote/deploy/micro_link.h"
#include "remote/deploy/rpc_link.h"
#include "remote/deploy/serial_link.h"
#include "remote/deploy/ssh_link.h"

namespace tenon::remote {

core::Result<std::unique_ptr<BoardLink>> openBoardLink(const LinkRequest& request,
                                                       const core::JobContext& job)
{
    if (core::Status checked = checkBoard(request.board); !checked) return checked.error();
    switch (request.board.kind) {
    case BoardKind::Ssh:
    case BoardKind::Virtual: return openSshLink(request, job);
    case BoardKind::RpcServer:
    case BoardKind::TrackerKey: return openRpcLink(request, job);
    case BoardKind::Micro: return openMicroLink(request);
    case BoardKind::Serial: return openSerialLink(request);
    case BoardKind::ThisComputer: break;
    }
    return openLocalLink(request);
}

} // namespace tenon::remote
