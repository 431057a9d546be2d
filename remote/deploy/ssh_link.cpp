// SPDX-License-Identifier: Apache-2.0
// The way to a board by SSH.
#include "remote/deploy/ssh_link.h"

#include "core/base/board_code.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/target/board_server.h"
#include "remote/deploy/board_server.h"
#include "remote/deploy/file_patch.h"
#include "remote/deploy/probe_script.h"
#include "remote/session/file_digest.h"
#include "remote/virtual/virtual_board.h"

#include <algorithm>
#include <future>
#include <optional>

namespace tenon::remote {

using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::MappedFile;
using core::Result;
using core::Status;
using std::chrono::milliseconds;

namespace {

constexpr const char* kSuffix = ".so";

class SshLink : public BoardLink
{
public:
    SshLink(std::shared_ptr<SshSession> session, bool keepsFiles)
        : m_session(std::move(session))
        , m_keepsFiles(keepsFiles)
    {
    }
    Result<BoardFacts> probe(milliseconds timeout, const JobContext& job) override;
    Result<std::string> measure(milliseconds timeout, const JobContext& job) override;
    void prepare(milliseconds timeout, const JobContext& job) override;
    Result<UploadedFile> upload(const std::string& path, milliseconds timeout,
                                const JobContext& job) override;
    Result<std::unique_ptr<LocalSession>> load(const RunRequest& request, milliseconds timeout,
                                               const JobContext& job) override;
    std::string confinement() const override { return m_server ? m_server->confinement() : ""; }
    Status close(bool keepsFiles, milliseconds timeout) override;
    std::string leftovers(LinkEnd end) const override;

private:
    Status startServer(milliseconds timeout, const JobContext& job);
    bool has(const std::string& name) const
    {
        return std::find(m_folder.files.begin(), m_folder.files.end(), name) !=
               m_folder.files.end();
    }

    bool hasModels() const
    {
        return std::any_of(m_folder.files.begin(), m_folder.files.end(),
                           [](const std::string& name) { return name.ends_with(kSuffix); });
    }

    std::shared_ptr<SshSession> m_session;
    bool m_keepsFiles;
    BoardFacts m_facts;
    BoardFolder m_folder; ///< on the board: of this link, or the store that stays
    std::shared_ptr<BoardServer> m_server;
    std::optional<Status> m_started;          ///< how starting the server went
    std::shared_ptr<const MappedFile> m_base; ///< what was sent last; it may be patched
    std::string m_baseName;
};

Result<BoardFacts> SshLink::probe(milliseconds timeout, const JobContext& job)
{
    if (m_server) return m_facts; // warm: nothing that matters has changed
    Result<std::shared_ptr<BoardServer>> server =
        BoardServer::enter(m_session, m_keepsFiles, timeout, job);
    if (!server) return server.error();
    const Result<BoardFacts> facts = parseProbe((*server)->greeting());
    if (!facts) return facts.error();
    m_folder = boardFolderOf((*server)->greeting());
    if (m_folder.path.empty())
        return makeError(DiagnosticCode::BoardFailure,
                         core::quoted(m_session->peer()) + " has no folder Tenon may write to");
    m_facts = *facts;
    m_server = *server;
    return facts;
}

Status SshLink::startServer(milliseconds timeout, const JobContext& job)
{
    const Result<std::string> path = core::boardServerPath(m_facts.machine);
    if (!path) return path.error();
    const auto file = MappedFile::open(*path);
    if (!file) return file.error();
    const std::string name = "server-" + sha256Of((*file)->bytes());
    return m_server->start({.name = name, .bytes = (*file)->bytes(), .isThere = has(name)}, timeout,
                           job);
}

void SshLink::prepare(milliseconds timeout, const JobContext& job)
{
    if (!m_started) m_started = startServer(timeout, job);
}

Result<std::string> SshLink::measure(milliseconds timeout, const JobContext& job)
{
    if (!m_server)
        if (const Result<BoardFacts> facts = probe(timeout, job); !facts) return facts.error();
    prepare(timeout, job);
    if (!*m_started) return m_started->error();
    const Result<std::unique_ptr<RpcSession>> rpc = m_server->open(timeout, job);
    if (!rpc) return rpc.error();
    const Result<Reply> reply = (*rpc)->callGlobal("tenon.rpc.server.measure", {});
    if (!reply) return reply.error();
    return reply->text;
}

Result<UploadedFile> SshLink::upload(const std::string& path, milliseconds timeout,
                                     const JobContext& job)
{
    prepare(timeout, job);
    if (!*m_started) return m_started->error();
    const auto file = MappedFile::open(path);
    if (!file) return file.error();
    const std::span<const std::byte> bytes = (*file)->bytes();
    const auto size = static_cast<int64_t>(bytes.size());
    UploadedFile out{.reusedBytes = size};
    // Hashing takes a part of the time that sending takes, and another processor.
    BoardServer::Parcel parcel{
        .base = m_baseName,
        .sha256 = std::async(std::launch::async, [bytes] { return sha256Of(bytes); }),
        .suffix = kSuffix};
    if (!hasModels() || !has(parcel.sha256.get() + kSuffix)) {
        const FilePatch patch =
            makePatch(m_base ? m_base->bytes() : std::span<const std::byte>(), bytes);
        parcel.pieces = patch.pieces();
        if (Status stored = m_server->store(parcel, timeout, job); !stored) return stored.error();
        out.sentBytes = patch.literalBytes;
        out.reusedBytes = size - patch.literalBytes;
        m_folder.files.push_back(parcel.sha256.get() + kSuffix);
    }
    m_base = *file;
    out.sha256 = parcel.sha256.get();
    m_baseName = out.sha256 + kSuffix;
    out.loadName = m_folder.path + "/" + m_baseName;
    return out;
}

Result<std::unique_ptr<LocalSession>> SshLink::load(const RunRequest& request, milliseconds timeout,
                                                    const JobContext& job)
{
    Result<std::unique_ptr<RpcSession>> rpc = m_server->open(timeout, job);
    if (!rpc) return rpc.error();
    auto session =
        std::make_unique<ArtifactSession>(request, serverEndOf(m_server), std::move(*rpc));
    if (Status loaded = session->load(job); !loaded) return loaded.error();
    return std::unique_ptr<LocalSession>(std::move(session));
}

Status SshLink::close(bool, milliseconds timeout)
{
    const Status ended = m_server ? m_server->end(timeout) : Status(core::kDone);
    m_server.reset();
    // Lost while it was asked what it is: nobody knows how far its script came.
    if (ended && !m_session->isAlive() && m_folder.path.empty())
        return makeError(core::BoardCode::LinkLost,
                         "the connection to " + core::quoted(m_session->peer()) + " was lost");
    return ended;
}

std::string SshLink::leftovers(LinkEnd end) const
{
    const std::string folder =
        m_folder.path.empty() ? "below ~/.tenon" : "in " + core::quoted(m_folder.path);
    if (m_keepsFiles) return "files stay on the board " + folder;
    if (end == LinkEnd::Orderly) return "nothing left on the board";
    return "files may remain there " + folder +
           "; its server removes them once it has missed us for half a minute, and after a loss of "
           "power a later deployment there does";
}

} // namespace

Result<std::unique_ptr<BoardLink>> openSshLink(const LinkRequest& request, const JobContext& job)
{
    const Board& board = request.board;
    SshOptions options = request.environment.ssh;
    options.timeout = request.timeout;
    SshAddress address{.host = board.host,
                       .port = board.port,
                       .user = board.user,
                       .identityFile = board.identityFile};
    if (board.kind == BoardKind::Virtual)
        if (Status prepared = prepareVirtualBoard(board, address, options); !prepared)
            return prepared.error();
    Result<std::shared_ptr<SshSession>> session = SshSession::connect(address, options, job);
    if (!session) return session.error();
    return std::unique_ptr<BoardLink>(std::make_unique<SshLink>(*session, request.keepsFiles));
}

} // namespace tenon::remote
