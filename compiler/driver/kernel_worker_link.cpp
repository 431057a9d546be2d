// SPDX-License-Identifier: Apache-2.0
// CBOR through nlohmann-json; a malformed message is an error, never a crash.
#include "compiler/driver/kernel_worker_link.h"

#include "compiler/codegen/back_end.h"
#include "core/target/target_facts_fields.h"

#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tenon::compiler {
namespace {

using Json = nlohmann::json;

constexpr uint32_t kMaxMessage = 1u << 30;

std::string toBytes(const Json& json)
{
    const std::vector<uint8_t> cbor = Json::to_cbor(json);
    return {cbor.begin(), cbor.end()};
}

Json binary(const std::string& text)
{
    return Json::binary(std::vector<uint8_t>(text.begin(), text.end()));
}

std::string text(const Json& json)
{
    const auto& bytes = json.get_binary();
    return {bytes.begin(), bytes.end()};
}

Diagnostic malformed(const char* what)
{
    return makeError(DiagnosticCode::CodegenFailure,
                     std::string("malformed message between compiler and worker: ") + what);
}

Json machineJson(const MachineSpec& m)
{
    return {m.triple,
            m.cpu,
            m.features,
            m.abi,
            static_cast<int>(m.floatAbi),
            m.optLevel,
            m.vectorizes,
            m.isThisComputer,
            std::string(m.backEnd->name)};
}

MachineSpec machineFrom(const Json& m)
{
    return {m.at(0),
            m.at(1),
            m.at(2),
            m.at(3),
            static_cast<MachineSpec::FloatAbi>(m.at(4).get<int>()),
            m.at(5),
            m.at(6),
            m.at(7),
            &backEndNamed(m.at(8).get<std::string>())};
}

Json factsJson(const TargetFacts& facts)
{
    Json json = Json::object();
    visitFields(facts, [&](const char* name, const auto& value) { json[name] = value; });
    return json;
}

TargetFacts factsFrom(const Json& json)
{
    TargetFacts facts;
    visitFields(facts, [&](const char* name, auto& value) { json.at(name).get_to(value); });
    return facts;
}

Json toJson(const KernelRequest& r)
{
    return {{"what", "kernel"},
            {"function", r.functionText},
            {"symbol", r.symbol},
            {"machine", machineJson(r.machine)},
            {"facts", factsJson(r.facts)}};
}

KernelRequest kernelFrom(const Json& json)
{
    return {json.at("function"), json.at("symbol"), machineFrom(json.at("machine")),
            factsFrom(json.at("facts"))};
}

Json toJson(const TextRequest& r)
{
    return {{"what", "text"},
            {"kind", static_cast<int>(r.kind)},
            {"text", r.text},
            {"symbol", r.symbol},
            {"vector", r.vectorBytes},
            {"form", static_cast<int>(r.form)},
            {"machine", machineJson(r.machine)}};
}

TextRequest textFrom(const Json& json)
{
    return {static_cast<TextRequest::Kind>(json.at("kind").get<int>()),
            json.at("text"),
            json.at("symbol"),
            json.at("vector"),
            static_cast<EmitForm>(json.at("form").get<int>()),
            machineFrom(json.at("machine"))};
}

Json toJson(const LinkRequest& r)
{
    return {{"what", "link"},
            {"arguments", r.job.arguments},
            {"folder", r.job.folder},
            {"output", r.output}};
}

LinkRequest linkFrom(const Json& json)
{
    return {{json.at("arguments"), json.at("folder")}, json.at("output")};
}

bool writeAll(int fd, const char* data, size_t size)
{
    while (size > 0) {
        const ssize_t n = ::send(fd, data, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        data += n;
        size -= static_cast<size_t>(n);
    }
    return true;
}

bool readAll(int fd, char* data, size_t size)
{
    while (size > 0) {
        const ssize_t n = ::read(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        data += n;
        size -= static_cast<size_t>(n);
    }
    return true;
}

} // namespace

std::string encodeRequest(const WorkerRequest& request)
{
    return toBytes(std::visit([](const auto& r) { return toJson(r); }, request));
}

Result<WorkerRequest> decodeRequest(std::string_view bytes)
{
    const Json json = Json::from_cbor(bytes.begin(), bytes.end(), true, false);
    try {
        const std::string what = json.at("what").get<std::string>();
        if (what == "kernel") return WorkerRequest(kernelFrom(json));
        if (what == "text") return WorkerRequest(textFrom(json));
        if (what == "link") return WorkerRequest(linkFrom(json));
        return malformed("unknown request");
    } catch (const Json::exception& e) {
        return malformed(e.what());
    }
}

std::string encodeReply(const KernelReply& reply)
{
    if (reply.error)
        return toBytes({{"error", reply.error->message},
                        {"code", static_cast<int>(reply.error->code)},
                        {"detail", reply.error->location.detail}});
    if (!reply.products) return toBytes({{"bytes", binary(reply.bytes)}});
    const KernelProducts& p = *reply.products;
    return toBytes({{"rule", p.rule},
                    {"refusal", p.refusal},
                    {"trace", p.trace},
                    {"scheduled", p.scheduled},
                    {"lowered", p.lowered},
                    {"object", binary(p.object)}});
}

Result<KernelReply> decodeReply(std::string_view bytes)
{
    const Json json = Json::from_cbor(bytes.begin(), bytes.end(), true, false);
    try {
        KernelReply reply;
        if (json.contains("error")) {
            reply.error = makeError(static_cast<DiagnosticCode>(json.at("code").get<int>()),
                                    json.at("error").get<std::string>(),
                                    {.detail = json.at("detail").get<std::string>()});
            return reply;
        }
        if (json.contains("bytes")) {
            reply.bytes = text(json.at("bytes"));
            return reply;
        }
        reply.products =
            KernelProducts{json.at("rule"),      json.at("refusal"), json.at("trace"),
                           json.at("scheduled"), json.at("lowered"), text(json.at("object"))};
        return reply;
    } catch (const Json::exception& e) {
        return malformed(e.what());
    }
}

bool sendMessage(int fd, std::string_view bytes)
{
    const uint32_t size = static_cast<uint32_t>(bytes.size());
    if (bytes.size() > kMaxMessage) return false;
    char head[sizeof size];
    std::memcpy(head, &size, sizeof size);
    return writeAll(fd, head, sizeof head) && writeAll(fd, bytes.data(), bytes.size());
}

std::optional<std::string> receiveMessage(int fd)
{
    uint32_t size = 0;
    char head[sizeof size];
    if (!readAll(fd, head, sizeof head)) return std::nullopt;
    std::memcpy(&size, head, sizeof size);
    if (size > kMaxMessage) return std::nullopt;
    std::string bytes(size, '\0');
    if (!readAll(fd, bytes.data(), size)) return std::nullopt;
    return bytes;
}

} // namespace tenon::compiler
