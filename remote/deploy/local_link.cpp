// SPDX-License-Identifier: Apache-2.0
// The way to this computer.
#include "remote/deploy/local_link.h"

#include "remote/session/child_process.h"
#include "remote/session/file_digest.h"

namespace tenon::remote {

using core::JobContext;
using core::Result;
using core::Status;
using std::chrono::milliseconds;

namespace {

class LocalLink : public BoardLink
{
public:
    explicit LocalLink(std::string serverPath)
        : m_serverPath(std::move(serverPath))
    {
    }
    Result<BoardFacts> probe(milliseconds timeout, const JobContext& job) override
    {
        const Result<std::string> text = asked("tenon.rpc.server.probe", timeout, job);
        if (!text) return text.error();
        return parseProbe(*text);
    }
    Result<std::string> measure(milliseconds timeout, const JobContext& job) override
    {
        return asked("tenon.rpc.server.measure", timeout, job);
    }
    Result<UploadedFile> upload(const std::string& path, milliseconds, const JobContext&) override
    {
        const Result<std::string> digest = fileSha256(path);
        if (!digest) return digest.error();
        return UploadedFile{.sha256 = *digest};
    }
    Result<std::unique_ptr<LocalSession>> load(const RunRequest& request, milliseconds,
                                               const JobContext& job) override
    {
        RunRequest here = request;
        here.serverPath = m_serverPath;
        Result<std::unique_ptr<ArtifactSession>> session = openLocalSession(here, job);
        if (!session) return session.error();
        return std::unique_ptr<LocalSession>(std::move(*session));
    }
    Status close(bool, milliseconds) override { return core::kDone; }

private:
    /// Of a server child that does nothing else.
    Result<std::string> asked(const char* function, milliseconds timeout, const JobContext& job)
    {
        const RunRequest request{.timeout = timeout, .serverPath = m_serverPath};
        Result<ChildProcess> child = startLocalServer(request);
        if (!child) return child.error();
        const auto rpc = RpcSession::open(child->takeSocket(), {timeout, &job});
        if (!rpc) return rpc.error();
        const Result<Reply> reply = (*rpc)->callGlobal(function, {});
        if (!reply) return reply.error();
        return reply->text;
    }

    std::string m_serverPath;
};

} // namespace

std::unique_ptr<BoardLink> openLocalLink(const LinkRequest& request)
{
    return std::make_unique<LocalLink>(request.environment.serverPath);
}

} // namespace tenon::remote
