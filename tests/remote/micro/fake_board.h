// SPDX-License-Identifier: Apache-2.0
// A board in this process: the server as boards compile it, a small model, and a line that harms
// what passes.
#pragma once

#include "remote/micro/micro_line.h"
#include "runtime/micro/rpc/micro_server.h"

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tenon::remote {

/// y = 2 x + run's constant, z = sum of k; x float32 [2, 8], k int32 [4].
struct FakeModel
{
    FakeModel();
    FakeModel(const FakeModel&) = delete; // its subject points into it
    FakeModel& operator=(const FakeModel&) = delete;
    void reset();

    micro_subject subject{};
    int64_t runs = 0;     ///< since the process started, over resets
    uint64_t clock = 0;   ///< nanoseconds
    bool divides = false; ///< runs fail as data that divide by zero do
    std::array<uint8_t, 64> guardBefore{};
    alignas(16) std::array<uint8_t, 1024> arrays{};
    std::array<uint8_t, 64> guardBehind{};
    std::array<float, 16> x{}, y{};
    std::array<int32_t, 4> k{};
    std::array<int32_t, 1> z{};
    std::array<uint32_t, 2> counts{};
    std::array<uint64_t, 3> marks{};

    bool guardsStand() const;
};
FakeModel& fakeModel();
/// Forgets everything.
void renewFakeModel();

/// Chances, each per chunk that passes.
struct Harm
{
    double drop = 0, corrupt = 0, repeat = 0, noise = 0;
    double reset = 0; ///< in the middle of what the client sends
};

class FakeBoard : public MicroLine
{
public:
    explicit FakeBoard(const Harm& harm = {}, uint32_t seed = 1, uint32_t packetBytes = 256);

    core::Status write(std::span<const std::byte> bytes) override;
    core::Result<size_t> read(std::span<std::byte> most,
                              std::chrono::milliseconds patience) override;

    bool isTaken() const override { return !isHeld; }

    void start();
    void setHarm(const Harm& harm) { m_harm = harm; }
    /// Bytes that the board said and nobody has read.
    std::string& said() { return m_said; }
    micro_server& server() { return m_server; }
    int resets() const { return m_resets; }
    int writes() const { return m_writes; }
    bool isSilent = false;
    bool isHeld = false; ///< says that what was written still waits
    bool isUnplugged = false;

private:
    bool happens(double chance);
    std::string harmed(std::string bytes);
    void take(const std::string& bytes);

    Harm m_harm;
    std::mt19937 m_random;
    uint32_t m_packetBytes;
    micro_server m_server{};
    std::vector<uint8_t> m_request, m_reply;
    std::string m_said, m_delivered;
    int m_resets = 0;
    int m_writes = 0;
};

} // namespace tenon::remote
