// SPDX-License-Identifier: Apache-2.0
// Sends 50 MB to an sshd on this machine in turns with `ssh 'cat >'`. Tenon's way includes the
// check by SHA-256 on the other side.
#include "remote/ssh/push_file.h"
#include "runtime/rpc/sha256.h"
#include "tests/support/sshd.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace {

using namespace tenon;
using Clock = std::chrono::steady_clock;

constexpr size_t kBytes = 50'000'000;
constexpr int kTurns = 5;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

int main()
{
    const test::Sshd sshd;
    const test::TemporaryFolder folder;
    core::JobContext job;
    std::string bytes(kBytes, 0);
    uint32_t state = 1;
    for (char& c : bytes) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    std::ofstream(folder.file("input"), std::ios::binary) << bytes;
    char sha256[TENON_SHA256_HEX];
    tenon_sha256_hex(bytes.data(), bytes.size(), sha256);
    const remote::SshOptions options{.knownHostsFile = folder.file("known_hosts"),
                                     .configFile = "none",
                                     .acceptedFingerprint = sshd.fingerprint(),
                                     .usesAgent = false};
    const auto session = remote::SshSession::connect(
        {.host = "127.0.0.1", .port = sshd.port(), .identityFile = sshd.identity()}, options, job);
    if (!session) {
        std::fprintf(stderr, "%s\n", session.error().text().c_str());
        return 1;
    }
    // A master connection, so that neither side's time holds connecting.
    const std::string ssh = "ssh -q -o ControlPath=" + folder.file("master") +
                            " -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -i " +
                            sshd.identity() + " -p " + std::to_string(sshd.port());
    const std::string open = ssh + " -M -f -N 127.0.0.1";
    const std::string copy =
        ssh + " 127.0.0.1 'cat > " + folder.file("theirs") + "' < " + folder.file("input");
    if (std::system(open.c_str()) != 0 || std::system(copy.c_str()) != 0) return 1;
    std::vector<double> ours;
    std::vector<double> bare;
    std::vector<double> theirs;
    for (int turn = 0; turn < kTurns; ++turn) {
        Clock::time_point start = Clock::now();
        const auto pushed =
            remote::pushFile(**session, folder.file("ours"), std::as_bytes(std::span(bytes)),
                             sha256, 0600, std::chrono::minutes(5), job);
        if (!pushed) return 1;
        ours.push_back(secondsSince(start));
        start = Clock::now();
        const auto sent =
            (*session)->run("cat > " + folder.file("bare"), std::as_bytes(std::span(bytes)),
                            std::chrono::minutes(5), job);
        if (!sent || sent->status != 0) return 1;
        bare.push_back(secondsSince(start));
        start = Clock::now();
        if (std::system(copy.c_str()) != 0) return 1;
        theirs.push_back(secondsSince(start));
    }
    static_cast<void>(std::system((ssh + " -O exit 127.0.0.1 2>/dev/null").c_str()));
    const double mb = kBytes / 1e6;
    std::printf("ssh 'cat >' %.1f MB/s; tenon %.1f MB/s, ratio %.2f; with its check by SHA-256 "
                "%.1f MB/s, ratio %.2f (medians of %d)\n",
                mb / median(theirs), mb / median(bare), median(theirs) / median(bare),
                mb / median(ours), median(theirs) / median(ours), kTurns);
    return 0;
}
