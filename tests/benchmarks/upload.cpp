// SPDX-License-Identifier: Apache-2.0
// Sends 50 MB to an sshd on this machine in turns with `ssh 'cat >'`. Tenon's way is that of a
// deployment: hashed here, hashed again on the other side as it arrives, renamed into place.
#include "remote/deploy/board_link.h"
#include "tests/support/sshd.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace {

using namespace tenon;
using Clock = std::chrono::steady_clock;

constexpr size_t kBytes = 50'000'000;
constexpr int kTurns = 7;
constexpr std::chrono::minutes kPatience{5};

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Seconds for one upload, or less than 0; connecting and the server are not counted.
double uploadOnce(const remote::LinkRequest& request, const std::string& file)
{
    const core::JobContext job;
    auto link = remote::openBoardLink(request, job);
    if (!link) {
        std::fprintf(stderr, "%s\n", link.error().text().c_str());
        return -1;
    }
    const auto facts = (*link)->probe(kPatience, job);
    (*link)->prepare(kPatience, job);
    const Clock::time_point start = Clock::now();
    const auto sent = (*link)->upload(file, kPatience, job);
    const double seconds = secondsSince(start);
    static_cast<void>((*link)->close(false, kPatience));
    if (sent && sent->sentBytes == static_cast<int64_t>(kBytes)) return seconds;
    std::fprintf(stderr, "%s\n", sent ? "not everything was sent" : sent.error().text().c_str());
    return -1;
}

} // namespace

int main()
{
    const test::TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("home"));
    const test::Sshd sshd("SetEnv HOME=" + folder.file("home") + "\n");
    std::string bytes(kBytes, 0);
    uint32_t state = 1;
    for (char& c : bytes) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    std::ofstream(folder.file("input"), std::ios::binary) << bytes;
    const remote::LinkRequest request{
        .board = {.name = "board",
                  .kind = remote::BoardKind::Ssh,
                  .host = "127.0.0.1",
                  .port = sshd.port(),
                  .identityFile = sshd.identity()},
        .environment = {.ssh = {.knownHostsFile = folder.file("known"),
                                .configFile = "none",
                                .acceptedFingerprint = sshd.fingerprint(),
                                .usesAgent = false}}};
    // A new connection for each turn of either side; making it is not counted.
    const std::string ssh = "ssh -q -o ControlPath=" + folder.file("master") +
                            " -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -i " +
                            sshd.identity() + " -p " + std::to_string(sshd.port());
    const std::string open = ssh + " -M -f -N 127.0.0.1";
    const std::string copy =
        ssh + " 127.0.0.1 'cat > " + folder.file("theirs") + "' < " + folder.file("input");
    const std::string close = ssh + " -O exit 127.0.0.1 2>/dev/null";
    std::vector<double> ours;
    std::vector<double> theirs;
    for (int turn = 0; turn < kTurns; ++turn) {
        ours.push_back(uploadOnce(request, folder.file("input")));
        if (ours.back() < 0 || std::system(open.c_str()) != 0) return 1;
        const Clock::time_point start = Clock::now();
        const int copied = std::system(copy.c_str());
        theirs.push_back(secondsSince(start));
        std::filesystem::remove(folder.file("theirs"));
        if (std::system(close.c_str()) != 0 || copied != 0) return 1;
    }
    const double mb = kBytes / 1e6;
    std::printf("50 MB by ssh 'cat >' %.1f MB/s; by tenon, verified on the other side, %.1f MB/s; "
                "ratio %.2f (medians of %d)\n",
                mb / median(theirs), mb / median(ours), median(theirs) / median(ours), kTurns);
    return 0;
}
