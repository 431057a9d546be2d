// SPDX-License-Identifier: Apache-2.0
// BoardLink: the way to one board while it is used; one implementation for each way.
#pragma once

#include "remote/deploy/deployer.h"
#include "remote/session/artifact_session.h"

namespace tenon::remote {

/// A file on the board.
struct UploadedFile
{
    std::string loadName; ///< what the server calls it
    std::string sha256;   ///< of the bytes that will be loaded
    int64_t sentBytes = 0;
    int64_t reusedBytes = 0;
};

/// How the way to a board ended.
enum class LinkEnd : uint8_t
{
    Orderly,
    Lost ///< nobody could look at what is left there
};

/// Not thread-safe. After Cancelled, TimedOut or LinkLost only close() makes sense.
class BoardLink
{
public:
    virtual ~BoardLink() = default;
    /// What the board is, and whether it can be worked on: its folder is made.
    virtual core::Result<BoardFacts> probe(std::chrono::milliseconds timeout,
                                           const core::JobContext& job) = 0;
    /// What its server measures of the machine, as text; see board/measured.h. A server of others
    /// cannot: UnsupportedFeature.
    virtual core::Result<std::string> measure(std::chrono::milliseconds timeout,
                                              const core::JobContext& job) = 0;
    /// Readies what uploads and runs need there, ahead of upload(), which does it otherwise and
    /// tells of its failure.
    virtual void prepare(std::chrono::milliseconds, const core::JobContext&) {}
    virtual core::Result<UploadedFile> upload(const std::string& path,
                                              std::chrono::milliseconds timeout,
                                              const core::JobContext& job) = 0;
    /// Loads an uploaded artifact; `request.timeout` holds for each later exchange, too.
    virtual core::Result<std::unique_ptr<LocalSession>> load(const RunRequest& request,
                                                             std::chrono::milliseconds timeout,
                                                             const core::JobContext& job) = 0;
    /// "sessions are confined by seccomp", when the server said so beside the probe.
    virtual std::string confinement() const { return {}; }
    /// Ends what runs on the board and, unless files are kept, removes what was brought.
    virtual core::Status close(bool keepsFiles, std::chrono::milliseconds timeout) = 0;
    /// False: close() cannot tell whether the board heard it.
    virtual bool isCloseConfirmed() const { return true; }
    /// What is left on the board, or may be, and how it goes; also after close().
    virtual std::string leftovers(LinkEnd) const { return "nothing left on the board"; }
};

/// How a link is made.
struct LinkRequest
{
    Board board;
    DeployEnvironment environment;
    bool keepsFiles = false;
    std::chrono::milliseconds timeout{std::chrono::seconds(20)};
    std::chrono::milliseconds queueTimeout{std::chrono::minutes(5)}; ///< of trackers
};

/// Errors: those of SshSession::connect and leaseServer().
core::Result<std::unique_ptr<BoardLink>> openBoardLink(const LinkRequest& request,
                                                       const core::JobContext& job);

} // namespace tenon::remote
