// SPDX-License-Identifier: Apache-2.0
// The way to an RPC server that already runs, Tenon's or another of TVM's protocol.
#include "remote/deploy/rpc_link.h"

#include "core/base/board_code.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "remote/session/file_digest.h"
#include "remote/ssh/tcp.h"
#include "remote/tracker/tracker_client.h"

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

core::Diagnostic cannotMeasure()
{
    return makeError(DiagnosticCode::UnsupportedFeature,
                     "the RPC server cannot measure its machine; start Tenon's there");
}

/// A session, and the lease of the server where a tracker gave it.
struct Dialled
{
    std::unique_ptr<TrackerLease> lease;
    std::unique_ptr<RpcSession> rpc;
};

/// Its system takes connections by itself. TVM's own servers do so while they serve another client.
core::Diagnostic silentGreeting(milliseconds silence)
{
    return makeError(DiagnosticCode::TimedOut,
                     "the connection is taken, but nothing has answered for " +
                         core::fixed(static_cast<double>(silence.count()) / 1000, 1) +
                         " s; is the server stopped, or busy with another client?");
}

Result<Dialled> dial(const LinkRequest& request, const JobContext& job)
{
    const Board& board = request.board;
    RpcAddress address{board.host, board.port, board.key};
    Dialled out;
    if (board.kind == BoardKind::TrackerKey) {
        Result<std::unique_ptr<TrackerLease>> lease =
            leaseServer({.host = board.host, .port = board.port}, {.key = board.key},
                        request.queueTimeout, job);
        if (!lease) return lease.error();
        out.lease = std::move(*lease);
        address = out.lease->server();
    }
    const Result<int> fd = connectTcp(address.host, address.port, request.timeout, job);
    if (!fd) return fd.error();
    const milliseconds silence = request.environment.ssh.longestSilence;
    Result<std::unique_ptr<RpcSession>> rpc =
        RpcSession::open(*fd, address.key, {request.timeout, &job, silence});
    Status alive = rpc ? (*rpc)->startHeart(silence) : Status(rpc.error());
    if (!alive) {
        core::Diagnostic error = alive.error();
        if (error.code == BoardCode::LinkLost) error = silentGreeting(silence);
        error.message =
            core::quoted(address.host + ":" + std::to_string(address.port)) + ": " + error.message;
        return error;
    }
    out.rpc = std::move(*rpc);
    return out;
}

class RpcLink : public BoardLink
{
public:
    RpcLink(LinkRequest request, Dialled dialled)
        : m_request(std::move(request))
        , m_lease(std::move(dialled.lease))
        , m_rpc(std::move(dialled.rpc))
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
    Result<std::string> measure(milliseconds timeout, const JobContext& job) override
    {
        if (Status open = ensureOpen(timeout, job); !open) return open.error();
        const Result<RemoteHandle> function = m_rpc->globalFunction("tenon.rpc.server.measure");
        if (!function) return function.error();
        if (!*function) return cannotMeasure();
        const Result<Reply> reply = m_rpc->call(*function, {});
        if (!reply) return reply.error();
        return reply->text;
    }
    Result<UploadedFile> upload(const std::string& path, milliseconds timeout,
                                const JobContext& job) override
    {
        if (Status open = ensureOpen(timeout, job); !open) return open.error();
        const auto file = core::MappedFile::open(path);
        if (!file) return file.error();
        const std::string digest = sha256Of((*file)->bytes());
        const std::string name = digest + ".so";
        const Result<Reply> reply = m_rpc->callGlobal(
            "tvm.rpc.server.upload", PackedArgs().text(name).bytes((*file)->bytes()));
        if (!reply) return failed(reply.error());
        return UploadedFile{name, digest, static_cast<int64_t>((*file)->bytes().size()), 0};
    }
    Result<std::unique_ptr<LocalSession>> load(const RunRequest& request, milliseconds timeout,
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
        return std::unique_ptr<LocalSession>(std::move(session));
    }
    Status close(bool, milliseconds) override
    {
        m_rpc.reset();
        m_lease.reset();
        return core::kDone;
    }
    bool isCloseConfirmed() const override { return false; }
    std::string leftovers(LinkEnd end) const override
    {
        if (end == LinkEnd::Orderly) return "the session is over; its server removes what was sent";
        return "files of this session may remain in the temporary folder of its server; Tenon's "
               "removes them once it has missed us for half a minute, or when it is started again";
    }

private:
    Status ensureOpen(milliseconds timeout, const JobContext& job)
    {
        if (!m_rpc) {
            m_lease.reset(); // of the session before: it would be waited for
            Result<Dialled> dialled = dial(m_request, job);
            if (!dialled) return dialled.error();
            m_lease = std::move(dialled->lease);
            m_rpc = std::move(dialled->rpc);
        }
        m_rpc->setPatience({timeout, &job});
        return core::kDone;
    }
    core::Diagnostic failed(core::Diagnostic error) const
    {
        if (error.message.find("No space left") != std::string::npos) {
            error.code = BoardCode::DiskFull;
            error.message += "; free some space on the board";
        } else if (m_rpc->isBroken() && error.code == DiagnosticCode::RpcFailure)
            error.code = BoardCode::LinkLost;
        else if (error.code == BoardCode::DataFault) // no model runs here: it is about files
            error.code = DiagnosticCode::RpcFailure;
        return error;
    }

    LinkRequest m_request;
    std::unique_ptr<TrackerLease> m_lease; ///< of the server, when a tracker gave it
    std::unique_ptr<RpcSession> m_rpc;
};

} // namespace

Result<std::unique_ptr<BoardLink>> openRpcLink(const LinkRequest& request, const JobContext& job)
{
    Result<Dialled> dialled = dial(request, job);
    if (!dialled) return dialled.error();
    return std::unique_ptr<BoardLink>(std::make_unique<RpcLink>(request, std::move(*dialled)));
}

} // namespace tenon::remote
