// SPDX-License-Identifier: Apache-2.0
// The server by its bytes: what microTVM's clients expect, and what it does with those that mean
// ill.
#include "tests/remote/micro/fake_board.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

using std::string_literals::operator""s;

class MicroServer : public testing::Test
{
protected:
    void SetUp() override
    {
        renewFakeModel();
        fakeModel().clock = 0xab; // a seed of TVM's tests
        m_board = std::make_unique<FakeBoard>();
    }
    void TearDown() override { EXPECT_TRUE(fakeModel().guardsStand()); }

    /// What the board says to these bytes.
    std::string says(const std::string& bytes)
    {
        m_board->said().clear();
        EXPECT_TRUE(m_board->write(std::as_bytes(std::span(bytes))));
        return std::exchange(m_board->said(), {});
    }
    static std::string framed(const std::string& payload)
    {
        std::string wire;
        micro_framer framer{[](void* context, const uint8_t* bytes, size_t size) {
                                static_cast<std::string*>(context)->append(
                                    reinterpret_cast<const char*>(bytes), size);
                            },
                            &wire, 0};
        micro_frame_begin(&framer, static_cast<uint32_t>(payload.size()));
        micro_frame_put(&framer, payload.data(), payload.size());
        micro_frame_end(&framer);
        return wire;
    }
    /// TVM's client with the nonce 0x82 begins a session; the board's first nonce is 0x66.
    void begin()
    {
        const std::string answer = says("\xFF\xFD\x04\0\0\0\x82\0\0\x01\x7B\xE9"s);
        constexpr size_t kNonce = 7; // behind mark, length and the client's nonce
        if (answer.size() > kNonce) m_session = answer.substr(kNonce - 1, 2);
    }
    std::string normal(const std::string& packet)
    {
        return says(framed(m_session + "\x10"s + packet));
    }
    static std::string number(uint64_t value, int bytes)
    {
        std::string out;
        for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
        return out;
    }
    static std::string packet(uint32_t code, const std::string& body)
    {
        return number(body.size() + 4, 8) + number(code, 4) + body;
    }
    static std::string text(const std::string& value) { return number(value.size(), 8) + value; }
    static std::string getGlobal(const std::string& name)
    {
        return packet(9, number(1, 4) + number(11, 4) + text(name));
    }

    std::unique_ptr<FakeBoard> m_board;
    std::string m_session = "\x82\x66"s;
};

/// Figures of TVM 0.16's tests of the session (nonces 0x82 and 0x66).
TEST_F(MicroServer, BeginsAsMicroTvmDoes)
{
    EXPECT_EQ(m_board->said(), "\xFE\xFF\xFD\x03\0\0\0\0\0\x02\x66\x77"s);
    EXPECT_EQ(says("\xFF\xFD\x04\0\0\0\x82\0\0\x01\x7B\xE9"s),
              "\xFF\xFD\x04\0\0\0\x82\x66\x01\x01\x81\xF3"s);
    m_board->said().clear();
    micro_server_log(&m_board->server(), "log1");
    EXPECT_EQ(m_board->said(), "\xFF\xFD\x07\0\0\0\0\0\x03log1\xF0\xD4"s);
}

TEST_F(MicroServer, NumbersFunctionsAsMicroTvmDoes)
{
    begin();
    const auto handle = [&](uint64_t value) {
        return framed("\x82\x66\x10"s + packet(4, number(1, 4) + number(3, 4) + number(value, 8)));
    };
    EXPECT_EQ(normal(getGlobal("runtime.SystemLib")), handle(0x80028000));
    EXPECT_EQ(normal(getGlobal("runtime.RPCTimeEvaluator")), handle(0x80028003));
    EXPECT_EQ(normal(getGlobal("tvm.rpc.server.upload")), handle(0)); // not an error
    const std::string library = packet(3, number(0x80028000, 8) + number(0, 4));
    EXPECT_EQ(normal(library),
              framed("\x82\x66\x10"s + packet(4, number(2, 4) + number(0, 4) + number(3, 4) +
                                                     number(9, 8) + number(0x80000000, 8))));
    const std::string most = packet(3, number(0x80028002, 8) + number(0, 4));
    EXPECT_EQ(normal(most),
              framed("\x82\x66\x10"s + packet(4, number(2, 4) + number(0, 4) + number(0, 4) +
                                                     number(0, 8) + number(256 - 11, 8))));
}

TEST_F(MicroServer, TellsAStrangerThatItStartedAnew)
{
    EXPECT_EQ(normal(getGlobal("runtime.SystemLib")), framed("\x82\x66\x02"s)); // no session yet
    begin();
    EXPECT_EQ(says(framed("\x82\x67\x10"s + getGlobal("runtime.SystemLib"))),
              framed("\x82\x67\x02"s)); // of another session
    EXPECT_EQ(says(framed("\x82\x66\x02"s)), "");
    EXPECT_EQ(normal(getGlobal("runtime.SystemLib")), framed("\x82\x66\x02"s)); // it has ended
}

TEST_F(MicroServer, AnswersANumberedRequestAgainWithoutDoingItAgain)
{
    begin();
    const auto numbered = [&](uint16_t which, const std::string& body) {
        const std::string all = "\x82\x66\x20"s + number(which, 2) + body;
        return framed(all + number(micro_crc32(0, all.data(), all.size()), 4));
    };
    const std::string run = packet(3, number(0x80018000, 8) + number(0, 4));
    const std::string first = says(numbered(7, run));
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(says(numbered(7, run)), "\xFE"s + first); // behind an idle byte
    EXPECT_EQ(fakeModel().runs, 1);
    EXPECT_NE(says(numbered(8, run)), first);
    EXPECT_EQ(fakeModel().runs, 2);
    std::string damaged = "\x82\x66\x20"s + number(9, 2) + run + "crc!"s;
    EXPECT_EQ(says(framed(damaged)), ""); // the frame is whole, the message is not
    EXPECT_EQ(fakeModel().runs, 2);
    EXPECT_EQ(m_board->server().counters.bad_frames, 1u);
}

/// Every packet that its reader could believe: the board lives, and its memory is its own.
TEST_F(MicroServer, SurvivesPacketsThatMeanIll)
{
    begin();
    std::mt19937 random(5);
    const auto value = [&]() -> uint64_t {
        constexpr uint64_t kInteresting[] = {
            0,          1,          2,          7,          255,          0x80000000,
            0x80018000, 0x80018003, 0x80008000, 0xFFFFFFFF, ~uint64_t{0}, 1024};
        const auto inside = reinterpret_cast<uintptr_t>(fakeModel().arrays.data());
        switch (random() % 4) {
        case 0: return inside + random() % 2000;
        case 1: return random();
        default: return kInteresting[random() % std::size(kInteresting)];
        }
    };
    for (int i = 0; i < 60000; ++i) {
        std::string body;
        const size_t words = random() % 14;
        if (random() % 2) body += number(0x80028000 + random() % 9, 8);
        for (size_t w = 0; w < words; ++w)
            body += random() % 2 ? number(random() % 16, 4) : number(value(), 8);
        normal(packet(static_cast<uint32_t>(random() % 20), body));
        if (random() % 50 == 0) begin();
        ASSERT_TRUE(fakeModel().guardsStand()) << i;
    }
    begin();
    EXPECT_NE(normal(getGlobal("runtime.SystemLib")).find("\x80\x02\x80"s), std::string::npos);
}

TEST_F(MicroServer, SurvivesNoise)
{
    std::mt19937 random(9);
    for (int i = 0; i < 2000; ++i) {
        std::string noise(random() % 300, 0);
        for (char& c : noise) c = static_cast<char>(random() % 4 ? random() : 0xFF);
        says(noise);
    }
    begin();
    begin(); // the first may complete what noise began
    EXPECT_NE(normal(getGlobal("runtime.SystemLib")), "");
}

} // namespace
} // namespace tenon::remote
