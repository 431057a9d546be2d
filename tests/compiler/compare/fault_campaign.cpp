// SPDX-License-Identifier: Apache-2.0
// Plants faults in models on this computer and on emulated boards, and prints where each ranks, how
// long finding it took, and what memory the programs took there.
//
// usage: fault_campaign FOLDER [PLACE ...]
//        PLACE: here, or an emulated board, which is made in FOLDER; default: here, rpi4,
//        mps2-an386
// Exit status 1 when a fault does not rank first.
#include "compiler/compare/tensor_names.h"
#include "compiler/driver/target_features.h"
#include "compiler/frontend/load_model.h"
#include "compiler/passes/numeric_check.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "remote/board/board_store.h"
#include "remote/deploy/deployer.h"
#include "remote/virtual/virtual_board.h"
#include "tests/compiler/compare/faults.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

namespace tenon::test {
namespace {

using Change = std::function<void(std::string& bytes)>;

/// Somewhere that programs run whose files may be changed on their way.
class Place
{
public:
    Place(std::string name, const std::string& folder)
        : m_name(std::move(name))
    {
        if (m_name == "here") return;
        const remote::BoardStore store(folder);
        auto board = store.find(m_name);
        if (!board) {
            const auto profile = remote::findProfile(m_name);
            CHECK(profile) << profile.error().text();
            JobContext job(1);
            board = remote::makeVirtualBoard(m_name, *profile, folder + "/virtual/" + m_name, job);
            CHECK(board) << board.error().text();
            CHECK(store.add(*board)) << "the board cannot be kept in " << folder;
        }
        m_target = board->target;
        m_board = std::make_unique<remote::Deployer>(
            *board, remote::DeployEnvironment{
                        .ssh = {.knownHostsFile = store.knownHostsPath(), .prompt = &m_prompt}});
    }

    const std::string& name() const { return m_name; }
    const std::string& target() const { return m_target; }
    int64_t mostBytes() const { return m_mostBytes; }
    void startCounting() { m_mostBytes = 0; }

    ProgramRunner runner(Change change = {})
    {
        return [this, change](const CompileResultPtr& program, const NamedValues& inputs,
                              JobContext& job) -> Result<std::vector<Tensor>> {
            if (!m_board) return runHere(change)(program, inputs, job);
            auto folder = core::TemporaryFolder::make("tenon-faults-");
            if (!folder) return folder.error();
            const auto kept = std::make_shared<const core::TemporaryFolder>(std::move(*folder));
            auto built = write(*program, kept, change);
            if (!built) return built.error();
            return onBoard(*built, inputs, job);
        };
    }

private:
    Result<remote::BuiltModel> write(const CompileResult& program,
                                     const std::shared_ptr<const core::TemporaryFolder>& folder,
                                     const Change& change)
    {
        const std::string path =
            folder->file("model" + std::string(suffixOf(program.machine.backEnd->runnable())));
        auto written = writeArtifact(program, path);
        if (!written) return written.error();
        const ManifestMemory& memory = written->manifest.memory;
        m_mostBytes = std::max(m_mostBytes, memory.workspaceBytes + memory.ioBytes);
        if (change) {
            auto bytes = readFile(path);
            if (!bytes) return bytes.error();
            change(*bytes);
            std::ofstream(path, std::ios::binary) << *bytes;
        }
        auto features = targetFeatures(written->manifest.target);
        return remote::BuiltModel{.path = path,
                                  .manifest = written->manifest,
                                  .features =
                                      features ? *std::move(features) : std::vector<std::string>{},
                                  .lifetime = folder};
    }

    Result<std::vector<Tensor>> onBoard(const remote::BuiltModel& built, const NamedValues& inputs,
                                        JobContext& job)
    {
        const remote::DeployRequest request{
            .build = [&](const std::string&, JobContext&) -> Result<remote::BuiltModel> {
                return built;
            },
            .inputs = [&](const Manifest&) -> Result<remote::NamedTensors> { return inputs; },
            .target = built.manifest.target,
            .staysConnected = true,
            .skipsPreflight = true};
        const remote::DeployReportPtr report = m_board->deploy(request, job);
        if (report->error) return *report->error;
        return report->outputs;
    }

    std::string m_name, m_target = CompileOptions().target;
    remote::NoPrompt m_prompt;
    std::unique_ptr<remote::Deployer> m_board; ///< null: this computer
    int64_t m_mostBytes = 0;
};

class Campaign
{
public:
    /// Of the digits sample: a wrong schedule, a broken kernel, a flipped weight.
    void plantInDigits(Place& place)
    {
        CompareRequest request = requestAt(place, digits(), digitsData());
        JobContext job(2);
        const auto built = compile(request.loaded, request.options, job);
        CHECK(built) << built.error().text();
        const size_t victim = victimOf(**built);
        const auto kernel = static_cast<size_t>((*built)->program.calls[victim].kernel);
        const std::string hash = (*built)->kernels[kernel].tirHash;
        row(place, "none", request, {});
        for (const auto& [name, fault] :
             {std::pair("wrong schedule", KernelFault::WrongSchedule),
              std::pair("broken fused kernel", KernelFault::WrongFormula)}) {
            CompareRequest faulty = request;
            faulty.options.service = faultyService(hash, fault);
            row(place, name, faulty, victim);
        }
        size_t flipped = 0;
        request.device = place.runner(flipIn(weightBytes(**built, victim), flipped));
        row(place, "flipped weight", request, victim);
    }

    /// Of three convolutions in 8 bits beside the same in floats.
    void plantSaturation(Place& place)
    {
        const test::TemporaryFolder folder;
        const auto written = [&](const std::string& name, const std::vector<double>& scales) {
            std::ofstream(folder.file(name), std::ios::binary)
                << modelOf(convolutions(scales)).SerializeAsString();
            auto loaded = loadModel(folder.file(name), {});
            CHECK(loaded) << loaded.error().text();
            return std::make_shared<const Loaded>(std::move(*loaded));
        };
        const NamedValues data{{"x", seededTensor(kFloat32, {1, 4, 12, 12}, 5)}};
        const auto real = written("real.onnx", {});
        JobContext job(2);
        auto floats = compareTensors(requestFor(real, {data}), job);
        CHECK(floats) << floats.error().text();
        std::vector<double> scales;
        for (const ComparedTensor& tensor : floats->tensors)
            if (tensor.title.work.starts_with("conv"))
                scales.push_back(tensor.cumulative.referenceLargest / 255);
        scales[1] /= 6;
        const auto quantized = written("quantized.onnx", scales);
        CompareRequest request = requestAt(place, quantized, {data});
        request.limits.isOtherModel = true;
        auto own = tensorNames(*quantized, folder.file("quantized.onnx"));
        auto theirs = tensorNames(*real, folder.file("real.onnx"));
        CHECK(own && theirs) << "the models have no names";
        request.reference =
            modelReference(std::move(*own), real, *theirs, CompileOptions(), runHere());
        row(place, "saturating layer", request, {}, "q1");
    }

    int missed() const { return m_missed; }

private:
    static CompareRequest requestAt(Place& place, std::shared_ptr<const Loaded> loaded,
                                    std::vector<NamedValues> sets)
    {
        sets.resize(1);
        CompareRequest request = requestFor(std::move(loaded), std::move(sets));
        request.options.target = place.target();
        request.device = place.runner();
        return request;
    }

    /// `victim` and `name`: the call or the tensor that must come first; neither: nothing is off.
    void row(Place& place, const char* fault, const CompareRequest& request,
             std::optional<size_t> victim, const std::string& name = {})
    {
        JobContext job(2);
        place.startCounting();
        const auto start = std::chrono::steady_clock::now();
        const auto out = compareTensors(request, job);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        std::string found = out ? "nothing is off" : out.error().text();
        bool isRight = out && !out->first() && !victim && name.empty();
        if (out && out->first()) {
            const ComparedTensor& first = out->tensors[*out->first()];
            const bool isIts = victim ? first.call == *victim : first.name == name;
            isRight = isIts && out->ranked().front() == *out->first();
            found = first.name + (isRight ? ", ranked first" : ", which is not it");
        }
        m_missed += !isRight;
        std::printf("%-12s %-20s %-50s %8.1f s %6zu programs %10lld bytes\n", place.name().c_str(),
                    fault, found.c_str(), took.count(), out ? out->builds : 0,
                    static_cast<long long>(place.mostBytes()));
        std::fflush(stdout);
    }

    int m_missed = 0;
};

int run(const std::string& folder, std::vector<std::string> names)
{
    if (names.empty()) names = {"here", "rpi4", "mps2-an386"};
    std::printf("%-12s %-20s %-50s %10s %15s %16s\n", "place", "fault", "found", "time", "programs",
                "most memory");
    Campaign campaign;
    for (const std::string& name : names) {
        Place place(name, folder);
        campaign.plantInDigits(place);
        campaign.plantSaturation(place);
    }
    return campaign.missed() == 0 ? 0 : 1;
}

} // namespace
} // namespace tenon::test

int main(int argc, char** argv)
{
    if (argc < 2 || argv[1][0] == '-') {
        std::fprintf(stderr, "usage: fault_campaign FOLDER [PLACE ...]\n");
        return 2;
    }
    return tenon::test::run(argv[1], {argv + 2, argv + argc});
}
