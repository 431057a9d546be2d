// SPDX-License-Identifier: Apache-2.0
// The client of a tracker of TVM's protocol.
#include "remote/tracker/tracker_client.h"

#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/rpc/link.h"
#include "remote/ssh/tcp.h"
#include "remote/tracker/tracker_wire.h"

#include <nlohmann/json.hpp>

#include <memory>

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::Result;
using core::Status;
using std::chrono::milliseconds;
using Json = nlohmann::json;

namespace {

core::Diagnostic strange(const std::string& what)
{
    return makeError(DiagnosticCode::RpcFailure, "the tracker answered with " + what);
}

/// A greeted connection.
class Conversation
{
public:
    static Result<std::unique_ptr<Conversation>> open(const TrackerAddress& address,
                                                      milliseconds timeout, const JobContext& job)
    {
        const Result<int> fd = connectTcp(address.host, address.port, timeout, job);
        if (!fd) return fd.error();
        std::unique_ptr<Conversation> out(new Conversation(*fd));
        out->m_link.begin({timeout, &job});
        const Result<int32_t> magic = out->exchangeMagic();
        if (!magic) return magic.error();
        if (*magic != kTrackerMagic) return strange("another protocol; is it a tracker");
        return out;
    }
    /// The answer to `message` as JSON.
    Result<Json> ask(const Json& message)
    {
        const std::string text = trackerMessage(message.dump());
        if (Status sent = m_link.send(std::as_bytes(std::span(text))); !sent) return sent.error();
        const Result<int32_t> size = number();
        if (!size) return size.error();
        if (*size < 0 || *size > kMaxTrackerMessage) return strange("an impossible length");
        std::string answer(static_cast<size_t>(*size), 0);
        if (Status got = m_link.receive(std::as_writable_bytes(std::span(answer))); !got)
            return got.error();
        Json json = Json::parse(answer, nullptr, false);
        if (json.is_discarded()) return strange("something that is no JSON");
        return json;
    }

private:
    explicit Conversation(int fd)
        : m_link(fd)
    {
    }
    Result<int32_t> number()
    {
        std::string bytes(4, 0);
        if (Status got = m_link.receive(std::as_writable_bytes(std::span(bytes))); !got)
            return got.error();
        return readTrackerNumber(bytes);
    }
    Result<int32_t> exchangeMagic()
    {
        const std::string magic = trackerNumber(kTrackerMagic);
        if (Status sent = m_link.send(std::as_bytes(std::span(magic))); !sent) return sent.error();
        return number();
    }

    Link m_link;
};

} // namespace

Result<RpcAddress> requestServer(const TrackerAddress& tracker, const ServerRequest& request,
                                 milliseconds timeout, const JobContext& job)
{
    const auto conversation = Conversation::open(tracker, timeout, job);
    if (!conversation) return conversation.error();
    const Result<Json> answer = (*conversation)
                                    ->ask({static_cast<int>(TrackerCode::Request), request.key,
                                           request.user, request.priority});
    if (!answer && answer.error().code == DiagnosticCode::TimedOut)
        return makeError(BoardCode::QueueTimedOut,
                         "no board with the key " + core::quoted(request.key) +
                             " became free; `tenon tracker --query` shows the queue");
    if (!answer) return answer.error();
    try {
        if (answer->at(0) != 0) return strange("a refusal");
        const Json& server = answer->at(1);
        return RpcAddress{server.at(0), server.at(1), server.at(2)};
    } catch (const Json::exception&) {
        return strange("something else than a server");
    }
}

Result<std::string> trackerSummary(const TrackerAddress& tracker, milliseconds timeout,
                                   const JobContext& job)
{
    const auto conversation = Conversation::open(tracker, timeout, job);
    if (!conversation) return conversation.error();
    const Result<Json> answer =
        (*conversation)->ask(Json::array({static_cast<int>(TrackerCode::Summary)}));
    if (!answer) return answer.error();
    if (!answer->is_array() || answer->size() != 2 || (*answer)[0] != 0)
        return strange("a refusal");
    return (*answer)[1].dump();
}

} // namespace tenon::remote
