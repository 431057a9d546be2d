// SPDX-License-Identifier: Apache-2.0
// Running one verification case: bind, compile, run and compare each data set.
#include "app/cli/verify_case.h"

#include "app/cli/execution.h"
#include "app/cli/verify_bindings.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/onnx/tensor_file.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

/// Tensors of input_0.pb, input_1.pb, ... or output_*.pb.
Result<GivenTensors> readSet(const std::string& folder, const std::string& stem)
{
    GivenTensors out;
    for (int i = 0;; ++i) {
        const std::string path = folder + "/" + stem + "_" + std::to_string(i) + ".pb";
        if (!fs::exists(path)) return out;
        auto tensor = compiler::readTensorFile(path);
        if (!tensor) return tensor.error();
        out.emplace_back(tensor->name, std::move(tensor->tensor));
    }
}

bool isUnsupported(const Diagnostic& d)
{
    return d.severity == Severity::Error && (d.code == DiagnosticCode::UnsupportedOperator ||
                                             d.code == DiagnosticCode::UnsupportedFeature ||
                                             d.code == DiagnosticCode::UnsupportedDtype);
}

/// Tolerance for output `index` of set `set`: as asked, as meta.json says, or the default.
Tolerance toleranceFor(const Json& meta, size_t set, size_t index, const Tensor& wanted,
                       bool isSingleOperator, const CaseOptions& options)
{
    double largest = 0;
    if (wanted.dtype().isFloat())
        for (const double value : wanted.numbers())
            if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    const bool isHalf = wanted.dtype().isFloat() && wanted.dtype().bits == 16;
    Tolerance out{1e-3, (isHalf ? 4e-3 : 1e-5) * largest};
    if (isSingleOperator && !isHalf) out.absolute = 1e-5;
    if (meta.contains("sets") && set < meta["sets"].size() &&
        index < meta["sets"][set]["outputs"].size()) {
        const Json& output = meta["sets"][set]["outputs"][index];
        out.relative = output.value("suggested_rtol", out.relative);
        out.absolute = output.value("suggested_atol", out.absolute);
    }
    if (options.relative) out.relative = *options.relative;
    if (options.absolute) out.absolute = *options.absolute;
    return out;
}

Json readMeta(const std::string& folder)
{
    auto text = readFile(folder + "/meta.json");
    if (!text) return Json::object();
    Json meta = Json::parse(*text, nullptr, false);
    return meta.is_object() ? meta : Json::object();
}

/// One case in progress: artifacts are kept while the shapes stay the same.
class CaseRun
{
public:
    CaseRun(std::string folder, const CaseOptions& options, JobContext& job)
        : m_folder(std::move(folder))
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

    /// The model with the shapes of the data and the values that the import wants to know.
    Result<compiler::Loaded> load(const GivenTensors& inputs, compiler::ImportOptions& bindings)
    {
        constexpr int kMaxRounds = 8; // a value fixed may show that another one is needed
        auto loaded = compiler::loadModel(m_folder + "/model.onnx", bindings);
        if (!loaded) return loaded;
        bindShapes(*loaded, inputs, bindings);
        for (int round = 0; loaded && round < kMaxRounds; ++round) {
            loaded = compiler::loadModel(m_folder + "/model.onnx", bindings);
            if (!loaded || fixValues(*loaded, loaded->neededValues, inputs, bindings)) continue;
            // Formulas may have one rank or another, by a value that is known at run time.
            if (!hasErrors(loaded->diagnostics) ||
                !fixValues(*loaded, integerInputs(loaded->facts), inputs, bindings))
                break;
        }
        return loaded;
    }

    Status prepare(const GivenTensors& inputs)
    {
        auto bindings = importOptions(m_options.common);
        if (!bindings) return bindings.error();
        auto loaded = load(inputs, *bindings);
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
        return build(std::make_shared<const compiler::Loaded>(std::move(*loaded)));
    }

    /// A quantized model is also built at opt level 0, which evaluates its real values exactly.
    Status build(std::shared_ptr<const compiler::Loaded> loaded)
    {
        const std::string name = fs::path(m_folder).filename().string();
        m_exact.reset();
        if (auto quantized = withLastQuantized(*loaded);
            quantized && m_options.common.optLevel > 0 && !m_isSingleOperator) {
            loaded = std::make_shared<const compiler::Loaded>(std::move(*quantized));
            CommonOptions exact = m_options.common;
            exact.optLevel = 0;
            auto runnable = buildRunnable(loaded, exact, name, m_job);
            if (!runnable) return runnable.error();
            m_exact = std::move(*runnable);
        }
        auto runnable = buildRunnable(loaded, m_options.common, name, m_job);
        if (!runnable) return runnable.error();
        m_runnable = std::move(*runnable);
        return kDone;
    }

    Result<std::vector<Tensor>> infer(const Runnable& runnable, const GivenTensors& given)
    {
        auto inputs = assignInputs(runnable.manifest.inputs, given);
        if (!inputs) return inputs.error();
        auto request = runRequest(runnable, std::max(1u, m_options.common.threads),
                                  std::chrono::seconds(m_options.timeoutS));
        if (!request) return request.error();
        request->inputs = std::move(*inputs);
        m_result.place = placeOf(*request);
        return remote::runArtifact(*request, m_job);
    }

    Status runSet(const std::string& folder, size_t set)
    {
        auto given = readSet(folder, "input");
        if (!given) {
            // Data of a type that the model cannot be supported with is no failure.
            auto loaded = compiler::loadModel(m_folder + "/model.onnx", {});
            if (loaded) markUnsupported(*loaded);
            return given.error();
        }
        if (Status s = prepare(*given); !s) return s;
        auto wanted = readSet(folder, "output");
        if (!wanted) return wanted.error();
        auto got = m_options.where.isElsewhere() ? runOnBoard() : infer(*m_runnable, m_given);
        if (!got) return got.error();
        if (m_exact) {
            auto exact = infer(*m_exact, m_given);
            if (!exact) return exact.error();
            compareQuantized(set, wanted->size(), *got, *exact);
            got = std::move(exact);
        }
        if (got->size() < wanted->size())
            return makeError(DiagnosticCode::NumericMismatch,
                             "the model has " + std::to_string(got->size()) + " outputs, not " +
                                 std::to_string(wanted->size()));
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
        return report->outputs;
    }

    /// The tensors behind the model's own outputs; those are compared at opt level 0.
    void compareQuantized(size_t set, size_t own, const std::vector<Tensor>& got,
                          const std::vector<Tensor>& exact)
    {
        QuantizedDifference here;
        for (size_t i = own; i < got.size() && i < exact.size(); ++i) here.add(got[i], exact[i]);
        QuantizedDifference& all = m_result.quantized;
        all.elements += here.elements;
        all.different += here.different;
        all.largest = std::max(all.largest, here.largest);
        if (here.largest > 1)
            fail("set " + std::to_string(set) + ": the last quantized tensor is up to " +
                 std::to_string(here.largest) + " steps from exact evaluation, in " +
                 std::to_string(here.different) + " of " + std::to_string(here.elements) +
                 " elements");
    }

    void compareOutput(size_t set, size_t index, const Tensor& got, const Tensor& wanted)
    {
        const Tolerance tolerance =
            toleranceFor(m_meta, set, index, wanted, m_isSingleOperator, m_options);
        const Comparison comparison = compareTensors(got, wanted, tolerance);
        m_result.maxAbsError = std::max(m_result.maxAbsError, comparison.maxAbsError);
        if (!comparison.reason.empty())
            fail("set " + std::to_string(set) + ", output " + std::to_string(index) + ": " +
                 comparison.reason);
    }

    std::string m_folder;
    const CaseOptions& m_options;
    JobContext& m_job;
    Json m_meta;
    CaseResult m_result;
    std::map<std::string, std::vector<int64_t>> m_shapes;
    std::map<std::string, int64_t> m_dims;
    GivenTensors m_given; ///< what the compiled model still asks for
    std::optional<Runnable> m_runnable;
    remote::NoPrompt m_noPrompt;
    std::unique_ptr<remote::Deployer> m_deployer; ///< of cases that run on a board
    std::optional<Runnable> m_exact;              ///< of a quantized model: at opt level 0
    bool m_isSingleOperator = false;
};

} // namespace

Comparison compareTensors(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance)
{
    // Old data sets hold bfloat16 as its bits.
    if (got.dtype() == kBfloat16 && wanted.dtype() == kUInt16)
        return compareTensors(got, sameBits(wanted, kBfloat16), tolerance);
    if (got.shape() != wanted.shape() || got.dtype() != wanted.dtype())
        return {0, "got " + got.typeText() + " instead of " + wanted.typeText()};
    Comparison out;
    int64_t misses = 0;
    int64_t worst = -1;
    double worstExcess = 0;
    for (int64_t i = 0; i < wanted.size(); ++i) {
        const double want = wanted.number(i);
        const double have = got.number(i);
        if (want == have || (std::isnan(want) && std::isnan(have))) continue;
        const double difference = std::fabs(want - have);
        const double allowed = wanted.dtype().isFloat()
                                   ? tolerance.relative * std::fabs(want) + tolerance.absolute
                                   : 0;
        if (std::isfinite(difference)) out.maxAbsError = std::max(out.maxAbsError, difference);
        if (difference <= allowed) continue;
        ++misses;
        const double excess = std::isfinite(difference) ? difference - allowed : HUGE_VAL;
        if (worst < 0 || excess > worstExcess) worst = i, worstExcess = excess;
    }
    if (misses > 0)
        out.reason = std::to_string(misses) + " of " + std::to_string(wanted.size()) +
                     " elements differ, worst at " + std::to_string(worst) + ": got " +
                     exact(got.number(worst)) + " instead of " + exact(wanted.number(worst));
    return out;
}

std::vector<std::string> findCases(const std::string& root)
{
    std::vector<std::string> cases;
    const auto look = [&](const fs::path& folder) {
        std::error_code ignored;
        if (fs::exists(folder / "model.onnx", ignored) &&
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
