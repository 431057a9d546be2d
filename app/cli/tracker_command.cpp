// SPDX-License-Identifier: Apache-2.0
// tenon tracker: lends RPC servers to whoever waits for one, or says what another tracker does.
#include "app/cli/board_access.h"
#include "core/base/text.h"
#include "remote/tracker/tracker_client.h"
#include "remote/tracker/tracker_server.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace tenon::cli {
namespace {

struct TrackerOptions
{
    CommonOptions common;
    remote::TrackerServerOptions server;
    std::vector<std::string> serverHosts{"127.0.0.0/8"};
    std::string query;
    bool trustsNetwork = false;
};

std::string addressText(const Json& entry)
{
    const Json address = entry.value("addr", Json::array());
    if (address.size() != 2) return "?";
    return (address[0].is_string() ? address[0].get<std::string>() : "?") + ":" + address[1].dump();
}

/// Keys with their servers, and how many of these are free.
std::string queueTable(const Json& summary)
{
    const Json queues = summary.value("queue_info", Json::object());
    std::map<std::string, std::vector<std::string>> servers;
    for (const auto& [key, queue] : queues.items()) servers[key];
    for (const Json& server : summary.value("server_info", Json::array())) {
        const std::string key = server.value("key", "");
        servers[key.substr(key.find(':') + 1)].push_back(addressText(server));
    }
    std::vector<std::vector<std::string>> rows{{"key", "free", "waiting", " servers"}};
    for (const auto& [key, addresses] : servers) {
        const Json queue = queues.value(key, Json::object());
        rows.push_back({key, queue.value("free", Json(0)).dump(),
                        queue.value("pending", Json(0)).dump(), " " + join(addresses, ", ")});
    }
    return table(rows);
}

/// Who has which server; trackers of others do not tell.
std::string leaseTable(const Json& summary)
{
    const Json leases = summary.value("leases", Json::array());
    if (leases.empty()) return "";
    std::vector<std::vector<std::string>> rows{{"lent", "seconds", " to", " lease"}};
    for (const Json& lease : leases)
        rows.push_back(
            {lease.value("key", "") + " " + addressText(lease),
             lease.value("seconds", Json(0)).dump(),
             " " + lease.value("user", "") + (lease.value("over", false) ? " (gone)" : ""),
             " " + lease.value("lease", Json(0)).dump()});
    return "\n" + table(rows);
}

int query(const TrackerOptions& options, JobContext& job)
{
    const auto address = remote::TrackerAddress::parse(options.query);
    if (!address) return wrongUsage(address.error().message);
    const auto summary = remote::trackerSummary(*address, std::chrono::seconds(10), job);
    if (!summary) return failure(summary.error());
    const Json json = Json::parse(*summary);
    if (options.common.json) {
        printJson(json);
        return kSuccess;
    }
    try {
        print(queueTable(json) + leaseTable(json));
    } catch (const Json::exception&) { // the other side decides what stands there
        return failure(makeError(DiagnosticCode::RpcFailure,
                                 core::quoted(address->text()) + " describes itself unreadably"));
    }
    return kSuccess;
}

int serve(const TrackerOptions& options, JobContext& job)
{
    if (!options.server.host.starts_with("127.") && !options.trustsNetwork)
        return wrongUsage("the tracker's protocol is plain text without passwords: everybody who "
                          "reaches " +
                          core::quoted(options.server.host) +
                          " may take and offer boards; say --trust-network if that is wanted");
    remote::TrackerServerOptions chosen = options.server;
    for (const std::string& text : options.serverHosts) {
        const auto range = remote::AddressRange::parse(text);
        if (!range) return wrongUsage(range.error().message);
        chosen.rules.offerers.push_back(*range);
    }
    const auto server = remote::TrackerServer::listen(chosen);
    if (!server) return failure(server.error());
    print("tracker on " + options.server.host + ":" + std::to_string((*server)->port()) + "\n");
    std::fflush(stdout);
    const Status served = (*server)->serve(job);
    return served ? kSuccess : failure(served.error());
}

} // namespace

void addTracker(CLI::App& app, Action& action)
{
    const auto options = std::make_shared<TrackerOptions>();
    CLI::App* command = app.add_subcommand("tracker", "lend RPC servers, as TVM's tracker does");
    addOutputOptions(*command, options->common);
    command->add_option("--host", options->server.host, "address to listen on")
        ->capture_default_str();
    command->add_option("--port", options->server.port, "port to listen on; 0: any")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str();
    command->add_flag("--trust-network", options->trustsNetwork,
                      "listen where others can reach it, in plain text");
    command->add_flag("--custom-addresses", options->server.rules.allowsCustomAddress,
                      "let servers offer other hosts than their own");
    command->add_option("--servers-from", options->serverHosts,
                        "hosts that may offer servers, as 192.168.1.7, 192.168.1.0/24 or any; "
                        "default: this computer");
    command->add_option("--query", options->query, "print the state of the tracker at HOST:PORT");
    command->callback([options, &action] {
        action = [options](JobContext& job) {
            return options->query.empty() ? serve(*options, job) : query(*options, job);
        };
    });
}

} // namespace tenon::cli
