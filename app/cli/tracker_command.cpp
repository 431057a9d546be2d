// SPDX-License-Identifier: Apache-2.0
// tenon tracker: lends RPC servers to whoever waits for one, or says what another tracker does.
#include "app/cli/board_access.h"
#include "core/base/text.h"
#include "remote/tracker/tracker_client.h"
#include "remote/tracker/tracker_server.h"

#include <cstdio>

namespace tenon::cli {
namespace {

struct TrackerOptions
{
    CommonOptions common;
    remote::TrackerServerOptions server;
    std::string query;
    bool trustsNetwork = false;
};

int query(const TrackerOptions& options, JobContext& job)
{
    const size_t colon = options.query.rfind(':');
    remote::TrackerAddress address{.host = options.query.substr(0, colon)};
    if (colon != std::string::npos) address.port = std::atoi(options.query.c_str() + colon + 1);
    const auto summary = remote::trackerSummary(address, std::chrono::seconds(10), job);
    if (!summary) return failure(summary.error());
    const Json json = Json::parse(*summary);
    if (options.common.json) {
        printJson(json);
        return kSuccess;
    }
    std::vector<std::vector<std::string>> rows{{"key", "free", "waiting"}};
    if (const auto queues = json.find("queue_info"); queues != json.end())
        for (const auto& [key, queue] : queues->items())
            rows.push_back(
                {key, queue.value("free", Json(0)).dump(), queue.value("pending", Json(0)).dump()});
    print(table(rows));
    return kSuccess;
}

int serve(const TrackerOptions& options, JobContext& job)
{
    if (!options.server.host.starts_with("127.") && !options.trustsNetwork)
        return wrongUsage("the tracker's protocol is plain text without passwords: everybody who "
                          "reaches " +
                          core::quoted(options.server.host) +
                          " may take and offer boards; say --trust-network if that is wanted");
    const auto server = remote::TrackerServer::listen(options.server);
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
    CLI::App* command = app.add_subcommand("tracker", "lends RPC servers, as TVM's tracker does");
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
    command->add_option("--query", options->query, "print the state of the tracker at HOST:PORT");
    command->callback([options, &action] {
        action = [options](JobContext& job) {
            return options->query.empty() ? serve(*options, job) : query(*options, job);
        };
    });
}

} // namespace tenon::cli
