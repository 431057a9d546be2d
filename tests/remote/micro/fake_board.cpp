// SPDX-License-Identifier: Apache-2.0
// The server's C code behind a line that loses, doubles, damages and resets.
#include "tests/remote/micro/fake_board.h"

#include "core/base/board_code.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

namespace tenon::remote {
namespace {

constexpr uint8_t kGuard = 0xA7;

const int64_t kShapeX[] = {2, 8};
const int64_t kShapeK[] = {4};
const int64_t kShapeZ[] = {1};
const micro_port kInputs[] = {{"x", {kDLFloat, 32, 1}, 2, kShapeX},
                              {"k", {kDLInt, 32, 1}, 1, kShapeK}};
const micro_port kOutputs[] = {{"y", {kDLFloat, 32, 1}, 2, kShapeX},
                               {"z", {kDLInt, 32, 1}, 1, kShapeZ}};

void* inputOf(uint32_t index)
{
    return index == 0 ? static_cast<void*>(fakeModel().x.data()) : fakeModel().k.data();
}

void* outputOf(uint32_t index)
{
    return index == 0 ? static_cast<void*>(fakeModel().y.data()) : fakeModel().z.data();
}

int32_t run()
{
    FakeModel& model = fakeModel();
    ++model.runs;
    model.clock += 1000;
    if (model.divides) return 1;
    for (size_t i = 0; i < model.x.size(); ++i) model.y[i] = 2 * model.x[i] + 1;
    model.z[0] = std::accumulate(model.k.begin(), model.k.end(), 0);
    for (uint32_t& count : model.counts) ++count;
    return 0;
}

const char* fault(int32_t) { return "node `Div_1`: integer division by zero"; }

const uint64_t* profile(int32_t* code)
{
    *code = run();
    fakeModel().marks = {100, 400, 1000};
    return fakeModel().marks.data();
}

/// Adds one to each float of its first argument.
int32_t addOne(TVMValue* args, int32_t*, int32_t count, TVMValue*, int32_t*, void*)
{
    if (count != 2) return -1;
    const auto* from = static_cast<const DLTensor*>(args[0].v_handle);
    const auto* to = static_cast<const DLTensor*>(args[1].v_handle);
    for (int64_t i = 0; i < from->shape[0]; ++i)
        static_cast<float*>(to->data)[i] = static_cast<const float*>(from->data)[i] + 1;
    return 0;
}

const tenon_micro_function kKernels[] = {{"tvmgen_default_add", addOne}};

} // namespace

FakeModel::FakeModel()
{
    subject.model = "default";
    subject.inputs = kInputs;
    subject.input_count = 2;
    subject.outputs = kOutputs;
    subject.output_count = 2;
    subject.input = inputOf;
    subject.output = outputOf;
    subject.run = run;
    subject.fault = fault;
    subject.kernels = kKernels;
    subject.kernel_count = 1;
    subject.call_count = 2;
    subject.call_counts = counts.data();
    subject.profile = profile;
    subject.nanoseconds = [] { return fakeModel().clock; };
    subject.workspace_bytes = 4096;
    subject.stack_bytes = 2048;
    subject.stack_peak = [] { return uint32_t{512}; };
    subject.arrays = arrays.data();
    subject.array_bytes = static_cast<uint32_t>(arrays.size());
    guardBefore.fill(kGuard);
    guardBehind.fill(kGuard);
}

void FakeModel::reset()
{
    x.fill(-1);
    y.fill(-1);
    k.fill(-1);
    z.fill(-1);
    arrays.fill(0xEE);
}

bool FakeModel::guardsStand() const
{
    const auto stands = [](uint8_t byte) { return byte == kGuard; };
    return std::all_of(guardBefore.begin(), guardBefore.end(), stands) &&
           std::all_of(guardBehind.begin(), guardBehind.end(), stands);
}

namespace {

std::unique_ptr<FakeModel>& theModel()
{
    static auto model = std::make_unique<FakeModel>();
    return model;
}

} // namespace

FakeModel& fakeModel() { return *theModel(); }

void renewFakeModel() { theModel() = std::make_unique<FakeModel>(); }

FakeBoard::FakeBoard(const Harm& harm, uint32_t seed, uint32_t packetBytes)
    : m_harm(harm)
    , m_random(seed)
    , m_packetBytes(packetBytes)
    , m_request(MICRO_BUFFER_BYTES(packetBytes))
    , m_reply(packetBytes)
{
    start();
}

void FakeBoard::start()
{
    fakeModel().reset();
    const auto sink = [](void* context, const uint8_t* bytes, size_t size) {
        static_cast<FakeBoard*>(context)->m_said.append(reinterpret_cast<const char*>(bytes), size);
    };
    micro_server_begin(&m_server, &fakeModel().subject, sink, this, m_request.data(),
                       m_reply.data(), m_packetBytes);
}

bool FakeBoard::happens(double chance)
{
    return chance > 0 && std::uniform_real_distribution<double>(0, 1)(m_random) < chance;
}

std::string FakeBoard::harmed(std::string bytes)
{
    const auto anywhere = [&] {
        return std::uniform_int_distribution<size_t>(0, bytes.size() - 1)(m_random);
    };
    if (bytes.empty()) return bytes;
    if (happens(m_harm.corrupt))
        bytes[anywhere()] ^=
            static_cast<char>(1 << std::uniform_int_distribution<int>(0, 7)(m_random));
    if (happens(m_harm.repeat)) bytes += bytes;
    if (happens(m_harm.noise))
        bytes.insert(anywhere(), 1,
                     static_cast<char>(std::uniform_int_distribution<int>(0, 255)(m_random)));
    if (happens(m_harm.drop)) {
        const size_t at = anywhere();
        bytes.erase(at, 1 + anywhere());
    }
    return bytes;
}

void FakeBoard::take(const std::string& bytes)
{
    micro_server_take(&m_server, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

core::Status FakeBoard::write(std::span<const std::byte> bytes)
{
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ++m_writes;
    if (happens(m_harm.reset)) {
        take(text.substr(0, text.size() / 2));
        start();
        ++m_resets;
        take(text.substr(text.size() / 2));
        return core::kDone;
    }
    take(harmed(text));
    return core::kDone;
}

core::Result<size_t> FakeBoard::read(std::span<std::byte> most, std::chrono::milliseconds)
{
    if (isUnplugged) return core::makeError(core::BoardCode::LinkLost, "unplugged");
    if (isSilent) return size_t{0};
    m_delivered += harmed(std::exchange(m_said, {}));
    const size_t size = std::min(most.size(), m_delivered.size());
    if (size > 0) std::memcpy(most.data(), m_delivered.data(), size);
    m_delivered.erase(0, size);
    return size;
}

} // namespace tenon::remote
