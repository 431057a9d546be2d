// SPDX-License-Identifier: Apache-2.0
// Few programs stay open: each holds its weights in a process of its own.
#include "app/runs/program_runs.h"

#include "app/runs/given_tensors.h"
#include "app/runs/local_run.h"
#include "compiler/driver/board_image.h"
#include "compiler/driver/target_features.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::runs {

namespace {

constexpr size_t kMostOpen = 4;

} // namespace

ProgramRuns::ProgramRuns(RunPlace place)
    : m_place(std::move(place))
{
}

Result<std::vector<Tensor>> ProgramRuns::run(const compiler::CompileResultPtr& program,
                                             const compiler::NamedValues& inputs, JobContext& job)
{
    if (Status go = job.checkStop(); !go) return go.error();
    auto opened = open(program);
    if (!opened) return opened.error();
    auto given = assignInputs((*opened)->manifest.inputs, inputs);
    if (!given) return given.error();
    return m_place.board ? runOnBoard(**opened, *given, job) : runHere(**opened, *given, job);
}

Result<Manifest> ProgramRuns::manifestOf(const compiler::CompileResultPtr& program)
{
    auto opened = open(program);
    if (!opened) return opened.error();
    return (*opened)->manifest;
}

Result<ProgramRuns::Opened*> ProgramRuns::open(const compiler::CompileResultPtr& program)
{
    const auto known = std::find_if(m_opened.begin(), m_opened.end(),
                                    [&](const Opened& o) { return o.program == program; });
    if (known != m_opened.end()) {
        m_opened.splice(m_opened.begin(), m_opened, known);
        return &m_opened.front();
    }
    auto folder = TemporaryFolder::make("tenon-");
    if (!folder) return folder.error();
    const std::string suffix(compiler::suffixOf(program->machine.backEnd->runnable()));
    const std::string path = folder->file("model" + suffix);
    auto written = compiler::writeForBoard(*program, path, m_place.boardProject);
    if (!written) return written.error();
    m_opened.push_front({program, std::make_shared<const TemporaryFolder>(std::move(*folder)), path,
                         std::move(written->manifest), nullptr});
    if (m_opened.size() > kMostOpen) m_opened.pop_back();
    return &m_opened.front();
}

Result<std::vector<Tensor>>
ProgramRuns::runHere(Opened& opened, const compiler::NamedValues& inputs, JobContext& job)
{
    if (!opened.session) {
        auto request = requestHere(opened.path, opened.manifest, m_place.threads, m_place.timeout);
        if (!request) return request.error();
        m_placeName = placeOf(*request);
        auto session = remote::LocalSession::open(*request, job);
        if (!session) return session.error();
        opened.session = std::move(*session);
    }
    if (Status set = opened.session->setInputs(inputs, job); !set) return set.error();
    return opened.session->run(job);
}

Result<std::vector<Tensor>>
ProgramRuns::runOnBoard(const Opened& opened, const compiler::NamedValues& inputs, JobContext& job)
{
    m_placeName = "on board " + core::quoted(m_place.boardName);
    const remote::DeployRequest request{
        .build = [&](const std::string&, JobContext&) -> Result<remote::BuiltModel> {
            auto features = compiler::targetFeatures(opened.manifest.target);
            return remote::BuiltModel{.path = opened.path,
                                      .manifest = opened.manifest,
                                      .features = features ? std::move(*features)
                                                           : std::vector<std::string>{},
                                      .lifetime = opened.folder};
        },
        .inputs = [&](const Manifest&) -> Result<remote::NamedTensors> { return inputs; },
        .target = opened.manifest.target,
        .threads = m_place.threads,
        .staysConnected = true,
        .skipsPreflight = m_place.skipsPreflight};
    const remote::DeployReportPtr report = m_place.board->deploy(request, job);
    if (report->error) return *report->error;
    return report->outputs;
}

} // namespace tenon::runs
