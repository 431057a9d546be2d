// SPDX-License-Identifier: Apache-2.0
// The way to a board by SSH.
#include "remote/deploy/ssh_link.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/target/board_server.h"
#include "remote/deploy/board_server.h"
#include "remote/deploy/file_patch.h"
#include "remote/deploy/probe_script.h"
#include "remote/ssh/push_file.h"
#include "remote/virtual/virtual_board.h"
#include "runtime/rpc/sha256.h"

#include <algorithm>

namespace tenon::remote {

using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::MappedFile;
using core::Result;
using core::Status;
using std::chrono::milliseconds;

namespace {

std::string digestOf(const MappedFile& file)
{
    char hex[TENON_SHA256_HEX];
    tenon_sha256_hex(file.bytes().data(), file.bytes().size(), hex);
    return hex;
}

class SshLink : public BoardLink
{
public:
    SshLink(std::shared_ptr<SshSession> session, bool keepsFiles)
        : m_session(std::move(session))
        , m_keepsFiles(keepsFiles)
    {
    }
    Result<BoardFacts> probe(milliseconds timeout, const JobContext& job) override;
    Result<UploadedFile> upload(const std::string& path, milliseconds timeout,
                                const JobContext& job) override;
    Result<std::unique_ptr<ArtifactSession>> load(const RunRequest& request, milliseconds timeout,
                                                  const JobContext& job) override;
    Status close(bool keepsFiles, milliseconds timeout) override;

private:
    Status pushServer(milliseconds timeout, const JobContext& job);
    /// Pushes unless a file of this content is there.
    Result<UploadedFile> push(const MappedFile& file, const std::string& name, int mode,
                              milliseconds timeout, const JobContext& job);
    Result<UploadedFile> patch(const MappedFile& file, const std::string& name,
                               const std::string& sha256, milliseconds timeout,
                               const JobContext& job);
    Status ensureServer(milliseconds timeout, const JobContext& job);
    Result<std::unique_ptr<RpcSession>> takeRpc(milliseconds timeout, const JobContext& job);
    bool has(const std::string& name) const
    {
        return std::find(m_present.begin(), m_present.end(), name) != m_present.end();
    }

    std::shared_ptr<SshSession> m_session;
    bool m_keepsFiles;
    BoardFacts m_facts;
    std::string m_root;   ///< on the board: everything of ours is below it
    std::string m_folder; ///< on the board: of this link, or the store that stays
    std::vector<std::string> m_present;
    std::string m_serverName;
    std::shared_ptr<BoardServer> m_server;
    std::unique_ptr<RpcSession> m_rpc;        ///< open and not yet given to a model
    std::shared_ptr<const MappedFile> m_base; ///< what was sent last; it may be patched
    std::string m_baseName;
};

Result<BoardFacts> SshLink::probe(milliseconds timeout, const JobContext& job)
{
    if (!m_folder.empty()) return m_facts; // warm: nothing that matters has changed
    const std::string script = probeScript(m_keepsFiles);
    const Result<SshExit> exit =
        m_session->run("exec /bin/sh -s", std::as_bytes(std::span(script)), timeout, job);
    if (!exit) return exit.error();
    const Result<BoardFacts> facts = parseProbe(exit->output);
    if (!facts) return facts.error();
    const BoardFolder folder = boardFolderOf(exit->output);
    if (folder.path.empty())
        return makeError(DiagnosticCode::BoardFailure,
                         core::quoted(m_session->peer()) + " has no folder Tenon may write to: " +
                             std::string(core::trimmed(exit->errors)));
    m_facts = *facts;
    m_root = folder.root;
    m_folder = folder.path;
    m_present = folder.files;
    return facts;
}

Result<UploadedFile> SshLink::push(const MappedFile& file, const std::string& name, int mode,
                                   milliseconds timeout, const JobContext& job)
{
    const auto size = static_cast<int64_t>(file.bytes().size());
    const std::string path = m_folder + "/" + name;
    if (has(name)) return UploadedFile{path, 0, size};
    const Status pushed =
        pushFile(*m_session, path, file.bytes(), digestOf(file), mode, timeout, job);
    if (!pushed) return pushed.error();
    m_present.push_back(name);
    return UploadedFile{path, size, 0};
}

Status SshLink::pushServer(milliseconds timeout, const JobContext& job)
{
    if (!m_serverName.empty()) return core::kDone;
    const Result<std::string> path = core::boardServerPath(m_facts.machine);
    if (!path) return path.error();
    const auto file = MappedFile::open(*path);
    if (!file) return file.error();
    const std::string name = "server-" + digestOf(**file);
    const Result<UploadedFile> pushed = push(**file, name, 0700, timeout, job);
    if (!pushed) return pushed.error();
    m_serverName = name;
    return core::kDone;
}

Status SshLink::ensureServer(milliseconds timeout, const JobContext& job)
{
    if (m_server) return core::kDone;
    Result<std::shared_ptr<BoardServer>> server = BoardServer::start(
        m_session, {.folder = m_folder, .name = m_serverName, .isTidy = !m_keepsFiles}, timeout,
        job);
    if (!server) return server.error();
    m_server = *server;
    return core::kDone;
}

Result<std::unique_ptr<RpcSession>> SshLink::takeRpc(milliseconds timeout, const JobContext& job)
{
    if (m_rpc) return std::move(m_rpc);
    if (Status running = ensureServer(timeout, job); !running) return running.error();
    return m_server->open(timeout, job);
}

Result<UploadedFile> SshLink::patch(const MappedFile& file, const std::string& name,
                                    const std::string& sha256, milliseconds timeout,
                                    const JobContext& job)
{
    const FilePatch patch = makePatch(m_base->bytes(), file.bytes());
    Result<std::unique_ptr<RpcSession>> rpc = takeRpc(timeout, job);
    if (!rpc) return rpc.error();
    (*rpc)->setPatience({timeout, &job});
    const std::string path = m_folder + "/" + name;
    const Result<Reply> reply =
        (*rpc)->callGlobal("tenon.rpc.server.patch", PackedArgs()
                                                         .text(m_folder + "/" + m_baseName)
                                                         .text(path)
                                                         .bytes(std::as_bytes(std::span(patch.ops)))
                                                         .text(sha256));
    if (!reply) return reply.error();
    m_rpc = std::move(*rpc);
    m_present.push_back(name);
    const auto size = static_cast<int64_t>(file.bytes().size());
    return UploadedFile{path, static_cast<int64_t>(patch.ops.size()), size - patch.literalBytes};
}

Result<UploadedFile> SshLink::upload(const std::string& path, milliseconds timeout,
                                     const JobContext& job)
{
    // The server goes first: it tidies up even when the connection dies while the model is sent.
    if (Status pushed = pushServer(timeout, job); !pushed) return pushed.error();
    if (Status running = ensureServer(timeout, job); !running) return running.error();
    const auto file = MappedFile::open(path);
    if (!file) return file.error();
    const std::string sha256 = digestOf(**file);
    const std::string name = sha256 + ".so";
    const bool canPatch = m_base && !has(name);
    Result<UploadedFile> sent = canPatch ? patch(**file, name, sha256, timeout, job)
                                         : push(**file, name, 0600, timeout, job);
    if (!sent) return sent.error();
    m_base = *file;
    m_baseName = name;
    return sent;
}

Result<std::unique_ptr<ArtifactSession>> SshLink::load(const RunRequest& request,
                                                       milliseconds timeout, const JobContext& job)
{
    Result<std::unique_ptr<RpcSession>> rpc = takeRpc(timeout, job);
    if (!rpc) return rpc.error();
    auto session =
        std::make_unique<ArtifactSession>(request, serverEndOf(m_server), std::move(*rpc));
    if (Status loaded = session->load(job); !loaded) return loaded.error();
    return session;
}

Status SshLink::close(bool keepsFiles, milliseconds timeout)
{
    m_rpc.reset();
    const JobContext nobodyStops;
    const bool isTidy = m_server && !m_keepsFiles;
    Status ended = m_server ? m_server->end(timeout) : Status(core::kDone);
    m_server.reset();
    // Only names the board itself gave, quoted; the root goes when nothing else is in it.
    if (!m_folder.empty() && !keepsFiles && !isTidy) {
        const std::string command = "rm -rf " + shellQuoted(m_folder) + "; rmdir " +
                                    shellQuoted(m_root) + " 2>/dev/null; true";
        const Result<SshExit> exit =
            m_session->run("exec /bin/sh -c " + shellQuoted(command), {}, timeout, nobodyStops);
        if (!exit) ended = exit.error();
    }
    if (!ended) {
        core::Diagnostic error = ended.error();
        error.message += "; files may remain on the board in " + core::quoted(m_folder);
        return error;
    }
    m_folder.clear();
    return core::kDone;
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
