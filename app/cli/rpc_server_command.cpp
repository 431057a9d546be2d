// SPDX-License-Identifier: Apache-2.0
// tenon rpc-server: checks the options and becomes the server program for this computer.
#include "app/cli/command.h"
#include "core/base/program_files.h"
#include "core/base/text.h"
#include "remote/tracker/tracker_client.h"

#include <CLI/CLI.hpp>
#include <arpa/inet.h>
#include <netdb.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace tenon::cli {
namespace {

struct RpcServerOptions
{
    std::string host = "127.0.0.1";
    int port = 9090;
    std::string key;
    std::string tracker;
    int memoryMib = -1;
    bool trustsNetwork = false;
    bool isLetGo = false;
};

bool isLoopback(const std::string& address) { return address.starts_with("127."); }

/// The server program has no resolver: it is static.
Result<std::string> numericAddress(const std::string& host)
{
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    if (const int status = getaddrinfo(host.c_str(), nullptr, &hints, &list); status != 0)
        return makeError(DiagnosticCode::BadArgument,
                         core::quoted(host) + " is no IPv4 host: " + gai_strerror(status));
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(list->ai_addr)->sin_addr, text.data(),
              text.size());
    freeaddrinfo(list);
    return std::string(text.data());
}

/// The server's own command line. Error BadArgument.
Result<std::vector<std::string>> serverArguments(const RpcServerOptions& options)
{
    const auto host = numericAddress(options.host);
    if (!host) return host.error();
    std::vector<std::string> out{"--host", *host,      "--port", std::to_string(options.port),
                                 "--key",  options.key};
    if (options.memoryMib >= 0)
        out.insert(out.end(), {"--memory", std::to_string(options.memoryMib)});
    if (options.isLetGo) out.emplace_back("--no-sandbox");
    if (options.trustsNetwork) out.emplace_back("--trust-network");
    constexpr size_t kMostKey = 256;
    if (options.key.size() > kMostKey)
        return makeError(DiagnosticCode::BadArgument, "a key has at most 256 bytes");
    if (!isLoopback(*host) && !options.trustsNetwork)
        return makeError(DiagnosticCode::BadArgument,
                         "the protocol is plain text without passwords: everybody who reaches " +
                             core::quoted(options.host) +
                             " may run code here; say --trust-network if that is wanted");
    if (options.tracker.empty()) return out;
    const auto tracker = remote::TrackerAddress::parse(options.tracker);
    if (!tracker) return tracker.error();
    const auto address = numericAddress(tracker->host);
    if (!address) return address.error();
    if (options.key.empty())
        return makeError(DiagnosticCode::BadArgument,
                         "a tracker wants to know what this server is; give it a --key");
    if (isLoopback(*host) && !isLoopback(*address))
        return makeError(DiagnosticCode::BadArgument,
                         "clients of the tracker " + tracker->text() + " cannot reach " +
                             core::quoted(options.host) + "; give a --host of this computer");
    out.insert(out.end(), {"--tracker", *address + ":" + std::to_string(tracker->port)});
    return out;
}

/// Only returns when the server cannot be started: this process becomes it.
int serve(const RpcServerOptions& options)
{
    const auto arguments = serverArguments(options);
    if (!arguments) return wrongUsage(arguments.error().message);
    const std::string program = siblingProgram("tenon-rpc-server");
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const std::string& argument : *arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    return failure(makeError(DiagnosticCode::IoFailure,
                             std::string("cannot start the server: ") + std::strerror(errno),
                             {.file = program}));
}

} // namespace

void addRpcServer(CLI::App& app, Action& action)
{
    const auto options = std::make_shared<RpcServerOptions>();
    CLI::App* command = app.add_subcommand("rpc-server", "run models for clients of TVM's RPC");
    command->add_option("--host", options->host, "address to listen on")->capture_default_str();
    command->add_option("--port", options->port, "port to listen on; 0: any")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str();
    command->add_option("--key", options->key,
                        "what clients must ask for; with a tracker: what kind of board this is");
    command->add_option("--tracker", options->tracker, "offer this server there: HOST[:PORT]");
    command
        ->add_option("--memory", options->memoryMib,
                     "MiB that a session may have, if not all of this computer; 0: no limit")
        ->check(CLI::Range(0, 1 << 24));
    command->add_flag("--no-sandbox", options->isLetGo,
                      "let sessions start processes, open sockets and reach all files");
    command->add_flag("--trust-network", options->trustsNetwork,
                      "listen where others can reach it, in plain text");
    command->callback(
        [options, &action] { action = [options](JobContext&) { return serve(*options); }; });
}

} // namespace tenon::cli
