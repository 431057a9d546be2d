// SPDX-License-Identifier: Apache-2.0
// The way to an RPC server that already runs, Tenon's or another of TVM's protocol.
#include "remote/deploy/rpc_link.h"

#include "core/base/board_code.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "remote/ssh/tcp.h"
#include "remote/tracker/tracker_client.h"
#include "runtime/rpc/sha256.h"

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::Result;
using core::Status;
using std::chrono::milliseconds;

namespace {

/// Nothing more is known of a server somebody else started.
class UnknownEnd : public ServerEnd
{
public:
    int signalOfDeath(milliseconds) override { return 0; }
    std::optional<core::Diagnostic> lostLink() override
    {
        return makeError(BoardCode::LinkLost, "the RPC server ended the session without a word");
    }
};

Result<std::unique_ptr<RpcSession>> dial(const Board& board, milliseconds timeout,
                                         const JobContext& job)
{
    RpcAddress address{board.host, board.port, board.key};
    if (board.kind == BoardKind::TrackerKey) {
        const Result<RpcAddress> lent = requestServer({.host = board.host, .port = board.port},
                                                      {.key = board.key}, timeout, job);
        if (!lent) return lent.error();
        address = *lent;
    }
    const Result<int> fd = connectTcp(address.host, address.port, timeout, job);
    if (!fd) return fd.error();
    return RpcSession::open(*fd, address.key, {timeout, &job});
}

class RpcLink : public BoardLink
{
public:
    RpcLink(Board board, std::unique_ptr<RpcSession> rpc)
        : m_board(std::move(board))
        , m_rpc(std::move(rpc))
    {
    }
    Result<BoardFacts> probe(milliseconds timeout, const JobContext& job) override
    {
        if (Status open = ensureOpen(timeout, job); !open) return open.error();
        const Result<RemoteHandle> function = m_rpc->globalFunction("tenon.rpc.server.probe");
        if (!function) return function.error();
        if (!*function) return BoardFacts{}; // a server of others: it does not tell
        const Result<Reply> reply = m_rpc->call(*function, {});
        if (!reply) return reply.error();
        return parseProbe(reply->text);
    }
    Result<UploadedFile> upload(const std::string& path, milliseconds timeout,
                                const JobContext& job) override
    {
        if (Status open = ensureOpen(timeout, job); !open) return open.error();
        const auto file = core::MappedFile::open(path);
        if (!file) return file.error();
        char hex[TENON_SHA256_HEX];
        tenon_sha256_hex((*file)->bytes().data(), (*file)->bytes().size(), hex);
        const std::string name = std::string(hex) + ".so";
        const Result<Reply> reply = m_rpc->callGlobal(
            "tvm.rpc.server.upload", PackedArgs().text(name).bytes((*file)->bytes()));
        if (!reply) return failed(reply.error());
        return UploadedFile{name, static_cast<int64_t>((*file)->bytes().size()), 0};
    }
    Result<std::unique_ptr<ArtifactSession>> load(const RunRequest& request, milliseconds timeout,
                                                  const JobContext& job) override
    {
        // A server's files go with its session: what was uploaded is in this one or lost.
        const bool isFresh = m_rpc == nullptr;
        if (isFresh && !upload(request.artifactPath, timeout, job))
            return makeError(BoardCode::LinkLost, "the RPC server does not answer any more");
        m_rpc->setPatience({timeout, &job});
        auto session = std::make_unique<ArtifactSession>(request, std::make_unique<UnknownEnd>(),
                                                         std::move(m_rpc));
        if (Status loaded = session->load(job); !loaded) return loaded.error();
        return session;
    }
    Status close(bool, milliseconds) override
    {
        m_rpc.reset();
        return core::kDone;
    }

private:
    Status ensureOpen(milliseconds timeout, const JobContext& job)
    {
        if (!m_rpc) {
            Result<std::unique_ptr<RpcSession>> rpc = dial(m_board, timeout, job);
            if (!rpc) return rpc.error();
            m_rpc = std::move(*rpc);
        }
        m_rpc->setPatience({timeout, &job});
        return core::kDone;
    }
    core::Diagnostic failed(core::Diagnostic error) const
    {
        if (error.message.find("No space left") != std::string::npos)
            error.code = BoardCode::DiskFull;
        else if (m_rpc->isBroken() && error.code == DiagnosticCode::RpcFailure)
            error.code = BoardCode::LinkLost;
        return error;
    }

    Board m_board;
    std::unique_ptr<RpcSession> m_rpc;
};

} // namespace

Result<std::unique_ptr<BoardLink>> openRpcLink(const LinkRequest& request, const JobContext& job)
{
    Result<std::unique_ptr<RpcSession>> rpc = dial(request.board, request.timeout, job);
    if (!rpc) return rpc.error();
    return std::unique_ptr<BoardLink>(std::make_unique<RpcLink>(request.board, std::move(*rpc)));
}

} // namespace tenon::remote
