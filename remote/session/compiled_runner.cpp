// SPDX-License-Identifier: Apache-2.0
// A library in a folder of its own, and a session that has loaded it.
#include "remote/session/compiled_runner.h"

#include "core/base/temporary_folder.h"
#include "remote/session/emulation.h"
#include "remote/session/local_board.h"

namespace tenon::remote {
namespace {

class CompiledRunner final : public compiler::ModelRunner
{
public:
    CompiledRunner(core::TemporaryFolder folder, std::unique_ptr<LocalSession> session,
                   core::JobContext& job)
        : m_folder(std::move(folder))
        , m_session(std::move(session))
        , m_job(job)
    {
    }

    core::Result<std::vector<core::Tensor>> run(const compiler::DataSet& data) override
    {
        NamedTensors inputs;
        for (const TensorSpec& wanted : m_session->inputs())
            for (const auto& [name, tensor] : data.inputs)
                if (name == wanted.name) inputs.emplace_back(name, tensor);
        if (core::Status set = m_session->setInputs(inputs, m_job); !set) return set.error();
        return m_session->run(m_job);
    }

private:
    core::TemporaryFolder m_folder; ///< the session's file
    std::unique_ptr<LocalSession> m_session;
    core::JobContext& m_job;
};

core::Result<std::unique_ptr<compiler::ModelRunner>>
openCompiled(const compiler::CompileOptions& options,
             std::shared_ptr<const compiler::Loaded> loaded, core::JobContext& job)
{
    const auto compiled = compiler::compile(std::move(loaded), options, job);
    if (!compiled) return compiled.error();
    const compiler::CompileResult& result = **compiled;
    auto folder = core::TemporaryFolder::make("tenon-runner-");
    if (!folder) return folder.error();
    const std::string suffix(compiler::suffixOf(result.machine.backEnd->runnable()));
    RunRequest request{.artifactPath = folder->file("model" + suffix),
                       .threads = result.threads.count,
                       .mayExceedProcessors = result.threads.isAsked()};
    if (core::Status found = runHere(request, result.target); !found) return found.error();
    const auto written = compiler::writeArtifact(result, request.artifactPath);
    if (!written) return written.error();
    auto session = LocalSession::open(request, job);
    if (!session) return session.error();
    return std::unique_ptr<compiler::ModelRunner>(
        std::make_unique<CompiledRunner>(*std::move(folder), *std::move(session), job));
}

} // namespace

compiler::OpenRunner compiledRunner(compiler::CompileOptions options)
{
    return [options = std::move(options)](std::shared_ptr<const compiler::Loaded> loaded,
                                          core::JobContext& job) {
        return openCompiled(options, std::move(loaded), job);
    };
}

} // namespace tenon::remote
