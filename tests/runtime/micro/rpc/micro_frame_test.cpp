// SPDX-License-Identifier: Apache-2.0
// microTVM's frames: the bytes that TVM 0.16 sends, and what is found behind damage.
#include "runtime/micro/rpc/micro_frame.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using std::string_literals::operator""s;

std::string framed(const std::string& payload)
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

class Reader
{
public:
    explicit Reader(uint32_t capacity = 64)
        : m_buffer(capacity)
    {
        micro_unframer_begin(&m_unframer, m_buffer.data(), capacity);
    }
    void take(const std::string& wire)
    {
        for (const char byte : wire) {
            const auto event = micro_unframer_take(&m_unframer, static_cast<uint8_t>(byte));
            if (event == kMicroFrameBad) ++bad;
            if (event == kMicroFrameWhole)
                payloads.emplace_back(reinterpret_cast<const char*>(m_buffer.data()),
                                      m_unframer.size);
        }
    }
    std::vector<std::string> payloads;
    int bad = 0;

private:
    std::vector<uint8_t> m_buffer;
    micro_unframer m_unframer{};
};

/// The figures of TVM 0.16's own tests.
TEST(MicroFrame, IsTheOneOfMicroTvm)
{
    EXPECT_EQ(framed(""), "\xFF\xFD\0\0\0\0\x83\x44"s);
    EXPECT_EQ(framed("one"), "\xFF\xFD\x03\0\0\0one\x58\xF4"s);
    EXPECT_EQ(framed("two2"), "\xFF\xFD\x04\0\0\0two2\x13\x11"s);
    EXPECT_EQ(framed("three"), "\xFF\xFD\x05\0\0\0three\x63\x9F"s);
    EXPECT_EQ(framed("es_\xff_capeir/^>t@\"hr"),
              "\xFF\xFD\x13\0\0\0es_\xff\xff_capeir/^>t@\"hr\xB4\xFF\xFF"s);
}

TEST(MicroFrame, IsReadBack)
{
    std::mt19937 random(3);
    Reader reader(300);
    for (size_t size = 0; size < 300; ++size) {
        std::string payload(size, 0);
        for (char& c : payload) c = static_cast<char>(random() % 3 ? random() : 0xFF);
        reader.take(framed(payload));
        ASSERT_EQ(reader.payloads.size(), size + 1);
        EXPECT_EQ(reader.payloads.back(), payload);
    }
    EXPECT_EQ(reader.bad, 0);
}

TEST(MicroFrame, IsFoundBehindAnything)
{
    Reader reader;
    reader.take("noise\xFF\xFE\xFF"s + framed("one")); // an escape of noise stands before it
    reader.take("\xFE"s + framed("two2"));
    reader.take("\xFF\xFD\x05\0\0\0thr"s + framed("three")); // cut short by the next
    EXPECT_EQ(reader.bad, 1);
    reader.take("\xFF\xFD\xFF\xFF\xFF\xFF\x7F"s + framed("one")); // longer than any
    EXPECT_EQ(reader.bad, 2);
    reader.take("\xFF\xFD\x03\0\0\0o\xFF\x01"s + framed("one")); // no such escape
    EXPECT_EQ(reader.bad, 3);
    reader.take("\xFF\xFD\x03\0\0\0onf\x58\xF4"s + framed("one")); // damaged
    EXPECT_EQ(reader.bad, 4);
    EXPECT_EQ(reader.payloads,
              (std::vector<std::string>{"one", "two2", "three", "one", "one", "one"}));
}

/// The first frame behind an idle byte, whatever was lost before it: also behind half of an escape.
TEST(MicroFrame, IsUnderstoodBehindAnyLoss)
{
    const std::string wire = framed("\xFF two \xFF\xFF escapes and more, \xFD\xFE, \xFF"s);
    for (size_t from = 0; from < wire.size(); ++from)
        for (size_t to = from; to <= wire.size(); ++to) {
            Reader reader;
            reader.take(std::string(wire).erase(from, to - from) + "\xFE"s + framed("next"));
            ASSERT_FALSE(reader.payloads.empty()) << from << ' ' << to;
            ASSERT_EQ(reader.payloads.back(), "next") << from << ' ' << to;
        }
}

TEST(MicroFrame, SkipsIdleBytesInside)
{
    Reader reader;
    std::string wire = framed("one");
    wire.insert(7, "\xFF\xFE"s);
    reader.take(wire);
    EXPECT_EQ(reader.payloads, std::vector<std::string>{"one"});
}

TEST(MicroFrame, TellsEveryFlippedBit)
{
    const std::string wire = framed("some payload \xFF with an escape");
    for (size_t bit = 0; bit < wire.size() * 8; ++bit) {
        std::string damaged = wire;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
        Reader reader;
        reader.take(damaged + framed("next"));
        ASSERT_FALSE(reader.payloads.empty()) << bit;
        EXPECT_EQ(reader.payloads.back(), "next") << bit;
        for (const std::string& payload : reader.payloads) EXPECT_EQ(payload, "next") << bit;
    }
}

TEST(MicroFrame, KnowsCrc32)
{
    EXPECT_EQ(micro_crc32(0, "123456789", 9), 0xCBF43926u); // the check value of IEEE 802.3
    EXPECT_EQ(micro_crc32(micro_crc32(0, "1234", 4), "56789", 5), 0xCBF43926u);
}

} // namespace
