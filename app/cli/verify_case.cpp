// SPDX-License-Identifier: Apache-2.0
// Running one verification case: bind, compile, run and compare each data set.
#include "app/cli/verify_case.h"

#include "app/cli/execution.h"
#include "app/cli/interrupt.h"
#include "app/cli/one_step.h"
#include "app/cli/verify_tolerance.h"
#include "app/runs/data_bindings.h"
#include "app/runs/data_sets.h"
#include "compiler/frontend/load_model.h"
#include "core/base/text.h"

#include <algorithm>
#include <filesystem>

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

using runs::bindingsText;
using runs::modelIn;
using runs::readSet;
using runs::withoutFixed;

bool isUnsupported(const Diagnostic& d)
{
    return d.severity == Severity::Error && (d.code == DiagnosticCode::UnsupportedOperator ||
                                             d.code == DiagnosticCode::UnsupportedFeature ||
                                             d.code == DiagnosticCode::UnsupportedDtype);
}

/// One case in progress: artifacts are kept while the shapes stay the same.
class CaseRun
{
public:
    CaseRun(std::string folder, const CaseOptions& options, JobContext& job)
        : m_folder(std::move(folder))
        , m_model(modelIn(m_folder))
        , m_options(options)
        , m_job(job)
        , m_meta(readMeta(m_folder))
        , m_result{.name = m_folder, .status = "passed", .reason = {}}
    {
    }

    CaseResult run()
    {
        for (size_t set = 0; m_result.status == "passed"; ++set) {
            const std::string folder = m_folder + "/test_data_set_" + std::to_string(set);
            if (!fs::is_directory(folder)) break;
            if (const Status done = runSet(folder, set); !done && m_result.status == "passed")
                fail("set " + std::to_string(set) + ": " + done.error().text());
        }
        return m_result;
    }

private:
    void fail(const std::string& reason)
    {
        m_result.status = "failed";
        m_result.reason = reason;
    }

    bool markUnsupported(const compiler::Loaded& loaded)
    {
        for (const auto* values : {&loaded.facts.inputs, &loaded.facts.outputs})
            for (const compiler::ValueFacts& value : *values) m_result.types.insert(value.dtype);
        for (const Diagnostic& d : loaded.diagnostics)
            if (isUnsupported(d)) {
                m_result.status = "unsupported";
                m_result.reason = d.text();
                return true;
            }
        return false;
    }

    Result<compiler::Loaded> read(const GivenTensors& inputs,
                                  compiler::ImportOptions& bindings) const
    {
        const ComputingScope scope;
        return runs::loadForData(m_model, inputs, bindings);
    }

    Status prepare(const GivenTensors& inputs)
    {
        auto bindings = importOptions(m_options.common);
        if (!bindings) return bindings.error();
        auto loaded = read(inputs, *bindings);
        if (!loaded) return loaded.error();
        m_given = withoutFixed(loaded->facts, inputs, *bindings);
        const bool isSame = bindings->shapes == m_shapes && bindings->dims == m_dims;
        if (m_runnable && isSame && bindings->values.empty()) return kDone;
        m_shapes = bindings->shapes;
        m_dims = bindings->dims;
        m_result.fixed.clear();
        for (const auto& [name, value] : bindings->values) m_result.fixed.push_back(name);
        m_isSingleOperator = loaded->facts.nodeCount == 1;
        if (markUnsupported(*loaded))
            return makeError(DiagnosticCode::UnsupportedOperator, m_result.reason);
        m_result.bindings = bindingsText(*bindings);
        return build(std::make_shared<const compiler::Loaded>(std::move(*loaded)));
    }

    /// The artifact that `compile` writes; nothing else is judged.
    Status build(std::shared_ptr<const compiler::Loaded> loaded)
    {
        m_loaded = loaded;
        auto runnable =
            buildRunnable(std::move(loaded), m_options.common, m_job, m_options.boardProject);
        if (!runnable) return runnable.error();
        auto digest = runnable->sha256();
        if (!digest) return digest.error();
        m_result.sha256 = std::move(*digest);
        m_runnable = std::move(*runnable);
        return kDone;
    }

    Result<std::vector<Tensor>> infer(const Runnable& runnable, const GivenTensors& given)
    {
        auto inputs = assignInputs(runnable.manifest.inputs, given);
        if (!inputs) return inputs.error();
        auto request =
            runRequest(runnable, m_options.common, std::chrono::seconds(m_options.timeoutS));
        if (!request) return request.error();
        request->inputs = std::move(*inputs);
        m_result.place = placeOf(*request);
        m_result.threads = request->threads;
        return remote::runArtifact(*request, m_job);
    }

    Status runSet(const std::string& folder, size_t set)
    {
        auto given = readSet(folder, "input");
        if (!given) {
            // Data of a type that the model cannot be supported with is no failure.
            auto loaded = compiler::loadModel(m_model, {});
            if (loaded) markUnsupported(*loaded);
            return given.error();
        }
        if (Status s = prepare(*given); !s) return s;
        auto wanted = readSet(folder, "output");
        if (!wanted) return wanted.error();
        if (wanted->empty())
            return makeError(DiagnosticCode::IoFailure, "there is no `output_0.pb` to compare with",
                             {.file = folder});
        auto got = m_options.where.isElsewhere() ? runOnBoard() : infer(*m_runnable, m_given);
        if (!got) return got.error();
        if (got->size() < wanted->size())
            return makeError(DiagnosticCode::NumericMismatch,
                             "the model has " + std::to_string(got->size()) + " outputs, not " +
                                 std::to_string(wanted->size()));
        m_effects.reset();
        for (size_t i = 0; i < wanted->size(); ++i)
            compareOutput(set, i, (*got)[i], (*wanted)[i].second);
        return kDone;
    }

    /// All sets of the case over one connection. Nobody can be asked anything here.
    Result<std::vector<Tensor>> runOnBoard()
    {
        const auto inputs = assignInputs(m_runnable->manifest.inputs, m_given);
        if (!inputs) return inputs.error();
        if (!m_deployer) {
            const auto board = chosenBoard(m_options.where);
            if (!board) return board.error();
            m_deployer = std::make_unique<remote::Deployer>(
                *board, deployEnvironment(m_options.where, m_noPrompt));
            m_result.place = "on board " + core::quoted(board->name);
        }
        remote::DeployRequest request{
            .build = [&](const std::string&, JobContext&) -> Result<remote::BuiltModel> {
                return builtModel(*m_runnable);
            },
            .inputs = [&](const Manifest&) -> Result<remote::NamedTensors> { return *inputs; },
            .target = m_runnable->manifest.target,
            .threads = m_options.common.threads,
            .staysConnected = true,
            .skipsPreflight = m_options.where.skipsPreflight};
        const remote::DeployReportPtr report = m_deployer->deploy(request, m_job);
        if (report->error) return *report->error;
        m_result.sha256 = report->sha256;
        return report->outputs;
    }

    /// How output `index` follows the last quantized tensors; null when it may not differ by a
    /// step.
    const StepEffect* effectOn(size_t index)
    {
        if (m_isSingleOperator) return nullptr;
        if (!m_effects) m_effects = stepEffects(*m_loaded, m_options.common, m_given, m_job);
        return index < m_effects->size() ? &(*m_effects)[index] : nullptr;
    }

    void compareOutput(size_t set, size_t index, const Tensor& got, const Tensor& reference)
    {
        // Old data sets hold bfloat16 as its bits.
        const bool isBits = got.dtype() == kBfloat16 && reference.dtype() == kUInt16;
        const Tensor wanted = isBits ? sameBits(reference, kBfloat16) : reference;
        OutputResult out{.set = set, .output = index};
        out.tolerance = toleranceFor(m_meta, {set, index, m_isSingleOperator}, wanted,
                                     m_options.relative, m_options.absolute);
        out.judgement = judge(got, wanted, out.tolerance);
        if (!out.judgement.reason.empty() && !out.tolerance.isStated)
            if (const StepEffect* effect = effectOn(index))
                out.judgement = judge(got, wanted, out.tolerance, *effect);
        m_result.maxAbsError = std::max(m_result.maxAbsError, out.judgement.maxAbsError);
        if (const std::string& reason = out.judgement.reason; !reason.empty())
            fail("set " + std::to_string(set) + ", output " + std::to_string(index) + ": " +
                 reason);
        m_result.outputs.push_back(std::move(out));
    }

    std::string m_folder;
    std::string m_model; ///< its file
    const CaseOptions& m_options;
    JobContext& m_job;
    Json m_meta;
    CaseResult m_result;
    std::map<std::string, std::vector<int64_t>> m_shapes;
    std::map<std::string, int64_t> m_dims;
    GivenTensors m_given; ///< what the compiled model still asks for
    std::optional<Runnable> m_runnable;
    remote::NoPrompt m_noPrompt;
    std::unique_ptr<remote::Deployer> m_deployer;     ///< of cases that run on a board
    std::shared_ptr<const compiler::Loaded> m_loaded; ///< what the artifact was compiled from
    std::optional<std::vector<StepEffect>> m_effects; ///< on the outputs of the current set
    bool m_isSingleOperator = false;
};

} // namespace

std::vector<std::string> findCases(const std::string& root)
{
    std::vector<std::string> cases;
    const auto look = [&](const fs::path& folder) {
        std::error_code ignored;
        if (!modelIn(folder.string()).empty() &&
            fs::is_directory(folder / "test_data_set_0", ignored))
            cases.push_back(folder.string());
    };
    look(root);
    std::error_code failed;
    for (const auto& entry : fs::recursive_directory_iterator(root, failed))
        if (entry.is_directory(failed)) look(entry.path());
    std::sort(cases.begin(), cases.end());
    return cases;
}

CaseResult runCase(const std::string& folder, const CaseOptions& options, JobContext& job)
{
    return CaseRun(folder, options, job).run();
}

} // namespace tenon::cli
