// SPDX-License-Identifier: Apache-2.0
// A greeted connection to a tracker.
#include "remote/tracker/tracker_conversation.h"

#include "remote/ssh/tcp.h"
#include "remote/tracker/tracker_wire.h"

#include <poll.h>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;
using Json = nlohmann::json;

namespace {

core::Diagnostic strange(const std::string& what)
{
    return makeError(DiagnosticCode::RpcFailure, "the tracker answered with " + what);
}

} // namespace

Result<std::unique_ptr<TrackerConversation>>
TrackerConversation::open(const TrackerAddress& address, const Patience& patience)
{
    const Result<int> fd = connectTcp(address.host, address.port, patience.timeout, *patience.job);
    if (!fd) {
        core::Diagnostic error = fd.error();
        error.message = "the tracker " + error.message;
        return error;
    }
    std::unique_ptr<TrackerConversation> out(new TrackerConversation(*fd));
    out->begin(patience);
    const std::string magic = trackerNumber(kTrackerMagic);
    if (Status sent = out->m_link.send(std::as_bytes(std::span(magic))); !sent) return sent.error();
    const Result<int32_t> answer = out->number();
    if (!answer) return answer.error();
    if (*answer != kTrackerMagic)
        return strange("another protocol; is " + address.text() + " a tracker");
    return out;
}

Result<int32_t> TrackerConversation::number()
{
    std::string bytes(4, 0);
    if (Status got = m_link.receive(std::as_writable_bytes(std::span(bytes))); !got)
        return got.error();
    return readTrackerNumber(bytes);
}

Status TrackerConversation::say(const Json& message)
{
    const std::string text = trackerMessage(message.dump());
    return m_link.send(std::as_bytes(std::span(text)));
}

Result<Json> TrackerConversation::hear()
{
    const Result<int32_t> size = number();
    if (!size) return size.error();
    if (*size < 0 || *size > kMaxTrackerMessage) return strange("an impossible length");
    std::string answer(static_cast<size_t>(*size), 0);
    if (Status got = m_link.receive(std::as_writable_bytes(std::span(answer))); !got)
        return got.error();
    Json json =
        isShallow(answer) ? Json::parse(answer, nullptr, false) : Json(Json::value_t::discarded);
    if (json.is_discarded()) return strange("something that is no JSON");
    return json;
}

Result<Json> TrackerConversation::ask(const Json& message)
{
    if (Status said = say(message); !said) return said.error();
    return hear();
}

bool TrackerConversation::hasNews(std::chrono::milliseconds limit) const
{
    pollfd entry{m_fd, POLLIN, 0};
    return poll(&entry, 1, static_cast<int>(limit.count())) > 0;
}

Result<Json> askSummary(TrackerConversation& conversation)
{
    Result<Json> answer = conversation.ask(Json::array({static_cast<int>(TrackerCode::Summary)}));
    if (!answer) return answer.error();
    if (!answer->is_array() || answer->size() != 2 || (*answer)[0] != 0 ||
        !(*answer)[1].is_object())
        return strange("a refusal");
    return (*answer)[1];
}

} // namespace tenon::remote
