// SPDX-License-Identifier: Apache-2.0
// A model behind lines that behave, and behind lines that do not.
#include "core/base/board_code.h"
#include "remote/micro/micro_model.h"
#include "tests/remote/micro/fake_board.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tenon::remote {
namespace {

using namespace std::chrono_literals;
using core::Tensor;

constexpr MicroPace kAtOnce{0ms, 1ms};

Tensor floats(const std::vector<float>& values, std::vector<int64_t> shape)
{
    return Tensor::make(
        {core::DtypeKind::Float, 32, 1}, std::move(shape),
        [&](std::span<std::byte> out) { std::memcpy(out.data(), values.data(), out.size()); });
}

Tensor integers(const std::vector<int32_t>& values)
{
    return Tensor::make(
        {core::DtypeKind::Int, 32, 1}, {static_cast<int64_t>(values.size())},
        [&](std::span<std::byte> out) { std::memcpy(out.data(), values.data(), out.size()); });
}

class MicroModelTest : public testing::Test
{
protected:
    void SetUp() override { renewFakeModel(); }
    void TearDown() override { EXPECT_TRUE(fakeModel().guardsStand()); }

    std::unique_ptr<MicroModel> open(const Harm& harm = {}, uint32_t seed = 1,
                                     const std::string& name = "default")
    {
        auto line = std::make_unique<FakeBoard>(Harm{}, seed);
        m_board = line.get();
        m_board->setHarm(harm);
        auto model = MicroModel::open(std::move(line), name, {.timeout = 10s}, kAtOnce);
        EXPECT_TRUE(model) << model.error().message;
        return model ? std::move(*model) : nullptr;
    }

    /// One inference of its own inputs, whose outputs are the right ones.
    void expectRight(MicroModel& model, int round)
    {
        std::vector<float> x(16);
        for (size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<float>(round) + 0.25f * static_cast<float>(i);
        const auto outputs =
            model.infer(std::vector<Tensor>{floats(x, {2, 8}), integers({round, 2, 3, 4})});
        ASSERT_TRUE(outputs) << outputs.error().message;
        ASSERT_EQ(outputs->size(), 2u);
        for (size_t i = 0; i < x.size(); ++i)
            ASSERT_EQ((*outputs)[0].number(static_cast<int64_t>(i)), 2 * x[i] + 1) << round;
        ASSERT_EQ((*outputs)[1].number(0), round + 9);
    }

    FakeBoard* m_board = nullptr;
};

TEST_F(MicroModelTest, RunsOverAFineLine)
{
    const auto model = open();
    ASSERT_TRUE(model);
    expectRight(*model, 5);
    const auto seconds = model->time(10, 4);
    ASSERT_TRUE(seconds) << seconds.error().message;
    ASSERT_EQ(seconds->size(), 4u);
    for (const double each : *seconds)
        EXPECT_DOUBLE_EQ(each, 1e-6); // a run takes 1000 ns of the fake clock
    const auto calls = model->profile();
    ASSERT_TRUE(calls) << calls.error().message;
    EXPECT_EQ(*calls, (std::vector<uint64_t>{300, 600}));
    const auto counted = model->statistics();
    ASSERT_TRUE(counted) << counted.error().message;
    EXPECT_EQ(counted->workspaceBytes, 4096u);
    EXPECT_EQ(counted->stackPeakBytes, 512u);
    EXPECT_EQ(counted->stackBytes, 2048u);
    EXPECT_EQ(counted->runs, 42u); // one, 4 x 10, one to warm up; the profile is none
    EXPECT_EQ(counted->runNs, 42000u);
    EXPECT_EQ(counted->badFrames, 0u);
    EXPECT_EQ(counted->repeated, 0u);
    EXPECT_EQ(counted->callCounts, (std::vector<uint64_t>{43, 43}));
}

TEST_F(MicroModelTest, CallsAKernelAlone)
{
    const auto model = open();
    ASSERT_TRUE(model);
    const auto names = model->kernels();
    ASSERT_TRUE(names);
    ASSERT_EQ(*names, std::vector<std::string>{"tvmgen_default_add"});
    RpcSession& session = model->session();
    const auto library = session.callGlobal("runtime.SystemLib", PackedArgs());
    ASSERT_TRUE(library);
    const auto kernel = session.moduleFunction(library->handle, names->front());
    ASSERT_TRUE(kernel) << kernel.error().message;
    const auto from = session.allocate({core::DtypeKind::Float, 32, 1}, {80}); // several packets
    const auto to = session.allocate({core::DtypeKind::Float, 32, 1}, {80});
    ASSERT_TRUE(from && to);
    std::vector<float> values(80);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    ASSERT_TRUE(session.copyTo(*from, floats(values, {80}).bytes()));
    ASSERT_TRUE(session.call(*kernel, PackedArgs().tensor(*from).tensor(*to)));
    const auto sum = session.copyFrom(*to);
    ASSERT_TRUE(sum) << sum.error().message;
    for (int64_t i = 0; i < 80; ++i) EXPECT_EQ(sum->number(i), i + 1);
    const auto wrong = session.call(*kernel, PackedArgs().tensor(*from));
    ASSERT_FALSE(wrong);
    EXPECT_NE(wrong.error().message.find("are its arguments right"), std::string::npos);
    EXPECT_TRUE(session.release(*from) && session.release(*to));
}

TEST_F(MicroModelTest, KeepsToItsMemory)
{
    const auto model = open();
    ASSERT_TRUE(model);
    RpcSession& session = model->session();
    const core::DataType byte{core::DtypeKind::UInt, 8, 1};
    const auto whole = session.allocate(byte, {1024});
    ASSERT_TRUE(whole) << whole.error().message;
    const auto more = session.allocate(byte, {1});
    ASSERT_FALSE(more);
    EXPECT_NE(more.error().message.find("no room for this array"), std::string::npos);
    RemoteTensor beyond = *whole;
    beyond.byteOffset = 1000;
    const std::vector<std::byte> bytes(25);
    EXPECT_FALSE(session.copyTo(beyond, bytes));
    beyond.byteOffset = 999;
    EXPECT_TRUE(session.copyTo(beyond, bytes));
    beyond.data -= 1000; // before the array
    EXPECT_FALSE(session.copyTo(beyond, bytes));
    ASSERT_TRUE(session.release(*whole));
    EXPECT_FALSE(session.copyTo(*whole, bytes)); // it is nobody's now
    EXPECT_TRUE(session.allocate(byte, {512}));
    const auto hole = session.allocate(byte, {256});
    EXPECT_TRUE(hole && session.allocate(byte, {256}));
    EXPECT_TRUE(session.release(*hole));
    EXPECT_FALSE(session.allocate(byte, {257}));
    EXPECT_TRUE(session.allocate(byte, {256}));
}

TEST_F(MicroModelTest, TellsWhatTheDataDid)
{
    const auto model = open();
    ASSERT_TRUE(model);
    fakeModel().divides = true;
    const auto outputs = model->infer(
        std::vector<Tensor>{floats(std::vector<float>(16), {2, 8}), integers({1, 2, 3, 4})});
    ASSERT_FALSE(outputs);
    EXPECT_NE(outputs.error().message.find("node `Div_1`: integer division by zero"),
              std::string::npos);
    fakeModel().divides = false;
    expectRight(*model, 3); // and goes on
}

TEST_F(MicroModelTest, RefusesWrongInputs)
{
    const auto model = open();
    ASSERT_TRUE(model);
    const auto few = model->infer(std::vector<Tensor>{integers({1, 2, 3, 4})});
    ASSERT_FALSE(few);
    EXPECT_NE(few.error().message.find("takes 2 inputs; 1 were given"), std::string::npos);
    const auto small = model->infer(std::vector<Tensor>{integers({1}), integers({1, 2, 3, 4})});
    ASSERT_FALSE(small);
    EXPECT_NE(small.error().message.find("input 0 has 4 B"), std::string::npos)
        << small.error().message;
}

TEST_F(MicroModelTest, SaysWhichModelTheBoardHas)
{
    auto line = std::make_unique<FakeBoard>();
    const auto model = MicroModel::open(std::move(line), "other", {.timeout = 5s}, kAtOnce);
    ASSERT_FALSE(model);
    EXPECT_NE(model.error().message.find("is called default"), std::string::npos);
}

/// No wrong result, and each run that was asked for happened once.
TEST_F(MicroModelTest, RunsEachRequestOnceOverALineThatLosesDoublesAndDamages)
{
    constexpr int kRounds = 10000;
    const auto model = open({.drop = 0.01, .corrupt = 0.01, .repeat = 0.01, .noise = 0.01}, 11);
    ASSERT_TRUE(model);
    for (int round = 0; round < kRounds; ++round) {
        expectRight(*model, round);
        if (HasFatalFailure()) return;
    }
    EXPECT_EQ(fakeModel().runs, kRounds);
    EXPECT_EQ(model->restarts(), 0);
    EXPECT_GT(model->lineCounters().resent, kRounds / 100);
    m_board->setHarm({});
    const auto counted = model->statistics();
    ASSERT_TRUE(counted);
    EXPECT_GT(counted->badFrames, 1000u);
    EXPECT_GT(counted->repeated, 1000u);
}

TEST_F(MicroModelTest, GivesABoardThatStartsAnewEverythingAgain)
{
    const auto model = open(
        {.drop = 0.005, .corrupt = 0.005, .repeat = 0.005, .noise = 0.005, .reset = 0.005}, 23);
    ASSERT_TRUE(model);
    for (int round = 0; round < 3000; ++round) {
        expectRight(*model, round);
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(m_board->resets(), 50);
    EXPECT_GT(model->restarts(), 50);
}

TEST_F(MicroModelTest, GivesUpOnASilentBoardWithAChecklist)
{
    auto line = std::make_unique<FakeBoard>();
    line->isSilent = true;
    const auto model = MicroModel::open(std::move(line), "default", {.timeout = 200ms}, kAtOnce);
    ASSERT_FALSE(model);
    EXPECT_NE(model.error().message.find("nothing came: has the board power"), std::string::npos)
        << model.error().message;
}

/// A line that is slow, or a board that is stopped: what was sent waits, and is not sent again.
TEST_F(MicroModelTest, SendsNothingTwiceThatStillWaitsInTheLine)
{
    const auto tries = [](bool isTaken) {
        auto line = std::make_unique<FakeBoard>();
        line->isSilent = true;
        line->isHeld = !isTaken;
        FakeBoard& board = *line;
        MicroExchange exchange(std::move(line), kAtOnce);
        const core::Status started = exchange.start({.timeout = 200ms});
        EXPECT_FALSE(started);
        EXPECT_EQ(!isTaken,
                  started.error().message.find("nor takes what is sent") != std::string::npos)
            << started.error().message;
        return board.writes();
    };
    EXPECT_GT(tries(true), 3);
    EXPECT_EQ(tries(false), 1);

    const auto model = open();
    ASSERT_TRUE(model);
    m_board->isSilent = m_board->isHeld = true;
    model->setPatience({.timeout = 200ms});
    const int64_t before = model->lineCounters().resent;
    const auto seconds = model->time(1, 1);
    ASSERT_FALSE(seconds);
    EXPECT_EQ(seconds.error().code, core::DiagnosticCode::TimedOut);
    EXPECT_NE(seconds.error().message.find("did not take the whole request"), std::string::npos)
        << seconds.error().message;
    EXPECT_EQ(model->lineCounters().resent, before);
}

TEST_F(MicroModelTest, NoticesThatTheLineHasEnded)
{
    const auto model = open();
    ASSERT_TRUE(model);
    m_board->isUnplugged = true;
    const auto seconds = model->time(1, 1);
    ASSERT_FALSE(seconds);
    EXPECT_EQ(seconds.error().code, core::BoardCode::LinkLost);
}

TEST_F(MicroModelTest, CanBeCancelled)
{
    const auto model = open();
    ASSERT_TRUE(model);
    m_board->isSilent = true;
    core::JobContext job;
    job.requestStop();
    model->setPatience({.timeout = 60s, .job = &job});
    const auto seconds = model->time(1, 1);
    ASSERT_FALSE(seconds);
    EXPECT_EQ(seconds.error().code, core::DiagnosticCode::Cancelled);
}

TEST(MicroLine, SaysWhatIsWrongWithAPort)
{
    const auto none = openSerialLine("/dev/ttyNone9", 115200);
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message.find("is the board plugged in"), std::string::npos);
    const auto speed = openSerialLine("/dev/null", 1234);
    ASSERT_FALSE(speed);
    EXPECT_NE(speed.error().message.find("there are 9600, 19200"), std::string::npos);
    const auto device = openSerialLine("/dev/null", 115200);
    ASSERT_FALSE(device);
    EXPECT_NE(device.error().message.find("is no serial port"), std::string::npos);
}

TEST(MicroLine, TellsWhetherAProgramHasTakenWhatWasWritten)
{
    test::TemporaryFolder folder;
    std::ofstream(folder.file("mute.sh")) << "exec sleep 1000\n";
    std::ofstream(folder.file("echo.sh")) << "exec cat\n";
    const std::string text = "sixteen bytes ..";
    const auto bytes = std::as_bytes(std::span(text));
    auto mute = startProgramLine(folder.file("mute.sh"));
    ASSERT_TRUE(mute);
    EXPECT_TRUE((*mute)->isTaken());
    ASSERT_TRUE((*mute)->write(bytes));
    EXPECT_FALSE((*mute)->isTaken());

    auto echo = startProgramLine(folder.file("echo.sh"));
    ASSERT_TRUE(echo && (*echo)->write(bytes));
    std::array<std::byte, 64> back{};
    for (size_t got = 0; got < bytes.size();) {
        const auto some = (*echo)->read(std::span(back).subspan(got), 10s);
        ASSERT_TRUE(some && *some > 0);
        got += *some;
    }
    EXPECT_TRUE((*echo)->isTaken());
}

TEST(MicroLine, SaysWhatAProgramSaidLast)
{
    test::TemporaryFolder folder;
    std::ofstream(folder.file("serve.sh")) << "echo no such machine >&2; exit 3\n";
    auto line = startProgramLine(folder.file("serve.sh"));
    ASSERT_TRUE(line);
    const auto model = MicroModel::open(std::move(*line), "default", {.timeout = 10s});
    ASSERT_FALSE(model);
    EXPECT_NE(model.error().message.find("no such machine"), std::string::npos)
        << model.error().message;
}

} // namespace
} // namespace tenon::remote
