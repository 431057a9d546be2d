// SPDX-License-Identifier: Apache-2.0
// Runs the tail again and again: every element up, every element down, each at random, one alone.
#include "app/cli/one_step.h"

#include "app/cli/quantized_tail.h"

#include <algorithm>
#include <random>

namespace tenon::cli {
namespace {

using Given = std::vector<std::pair<std::string, Tensor>>;

constexpr int kRandomMoves = 8;
constexpr int kSingleMoves = 8;

struct Range
{
    int64_t least = 0;
    int64_t most = 0;
};

Range rangeOf(DataType dtype)
{
    const int bits = std::min(dtype.bits - (dtype.kind == DtypeKind::UInt ? 0 : 1), 62);
    const int64_t most = (int64_t{1} << bits) - 1;
    return {dtype.kind == DtypeKind::UInt ? 0 : -most - 1, most};
}

/// The tensor with `stepOf(i)` added to element i, as far as the type goes.
template <class StepOf>
Tensor moved(const Tensor& tensor, StepOf stepOf)
{
    const Range range = rangeOf(tensor.dtype());
    return Tensor::make(tensor.dtype(), tensor.shape(), [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < tensor.size(); ++i)
            storeInteger(tensor.dtype(), out, i,
                         std::clamp(tensor.integer(i) + stepOf(i), range.least, range.most));
    });
}

/// The tail of one case, loaded once.
class Tail
{
public:
    static Result<Tail> open(const QuantizedTail& cut, const CommonOptions& options,
                             const Given& given, JobContext& job)
    {
        auto head = buildRunnable(std::make_shared<const compiler::Loaded>(cut.head), options, job);
        if (!head) return head.error();
        auto request = requestFor(*head, given);
        if (!request) return request.error();
        auto exact = remote::runArtifact(*request, job);
        if (!exact) return exact.error();
        Tail out(job);
        for (size_t i = 0; i < cut.names.size(); ++i)
            out.m_integers.emplace_back(cut.names[i], (*exact)[cut.outputs + i]);
        auto tail = buildRunnable(std::make_shared<const compiler::Loaded>(cut.tail), options, job);
        if (!tail) return tail.error();
        Given inputs = given;
        inputs.insert(inputs.end(), out.m_integers.begin(), out.m_integers.end());
        request = requestFor(*tail, inputs);
        if (!request) return request.error();
        auto session = remote::LocalSession::open(*request, job);
        if (!session) return session.error();
        out.m_runnable = std::move(*tail);
        out.m_session = std::move(*session);
        return out;
    }

    const Given& integers() const { return m_integers; }
    Result<std::vector<Tensor>> run(const Given& integers)
    {
        if (Status set = m_session->setInputs(integers, m_job); !set) return set.error();
        return m_session->run(m_job);
    }

private:
    explicit Tail(JobContext& job)
        : m_job(job)
    {
    }
    static Result<remote::RunRequest> requestFor(const Runnable& runnable, const Given& given)
    {
        auto inputs = assignInputs(runnable.manifest.inputs, given);
        if (!inputs) return inputs.error();
        const CommonOptions options{.threads = 1};
        auto request = runRequest(runnable, options, std::chrono::minutes(2));
        if (request) request->inputs = std::move(*inputs);
        return request;
    }

    JobContext& m_job;
    Given m_integers;
    Runnable m_runnable; ///< the session's file
    std::unique_ptr<remote::LocalSession> m_session;
};

int64_t countChanged(const Tensor& a, const Tensor& b)
{
    int64_t changed = 0;
    for (int64_t i = 0; i < a.size(); ++i)
        changed += !(a.number(i) == b.number(i)); // also where one is NaN
    return changed;
}

/// Every element of every tensor moves: all up, all down, or each as a coin falls.
Status moveAll(Tail& tail, std::vector<StepEffect>& effects)
{
    std::mt19937 random(1);
    for (int round = 0; round < 2 + kRandomMoves; ++round) {
        Given integers = tail.integers();
        for (auto& [name, tensor] : integers)
            tensor = moved(tensor, [&](int64_t) -> int64_t {
                const bool isUp = round < 2 ? round == 0 : (random() & 1) != 0;
                return isUp ? 1 : -1;
            });
        auto outputs = tail.run(integers);
        if (!outputs) return outputs.error();
        for (size_t i = 0; i < effects.size(); ++i) effects[i].moved.push_back((*outputs)[i]);
    }
    return kDone;
}

/// One element moves alone: how far that spreads.
Status moveOne(Tail& tail, std::vector<StepEffect>& effects)
{
    std::mt19937 random(2);
    for (int round = 0; round < kSingleMoves; ++round) {
        Given integers = tail.integers();
        Tensor& tensor = integers[random() % integers.size()].second;
        if (tensor.size() == 0) continue;
        const int64_t at = static_cast<int64_t>(random() % static_cast<size_t>(tensor.size()));
        const int64_t step = tensor.integer(at) >= rangeOf(tensor.dtype()).most ? -1 : 1;
        tensor = moved(tensor, [&](int64_t i) { return i == at ? step : int64_t{0}; });
        auto outputs = tail.run(integers);
        if (!outputs) return outputs.error();
        for (size_t i = 0; i < effects.size(); ++i)
            effects[i].spread =
                std::max(effects[i].spread, countChanged((*outputs)[i], effects[i].exact));
    }
    return kDone;
}

Result<std::vector<StepEffect>> measured(const QuantizedTail& cut, const CommonOptions& options,
                                         const Given& given, JobContext& job)
{
    auto tail = Tail::open(cut, options, given, job);
    if (!tail) return tail.error();
    auto exact = tail->run(tail->integers());
    if (!exact) return exact.error();
    int64_t elements = 0;
    for (const auto& [name, tensor] : tail->integers()) elements += tensor.size();
    std::vector<StepEffect> effects;
    for (Tensor& output : *exact)
        effects.push_back({.exact = std::move(output), .elements = elements});
    if (Status done = moveAll(*tail, effects); !done) return done.error();
    if (Status done = moveOne(*tail, effects); !done) return done.error();
    return effects;
}

} // namespace

std::vector<StepEffect> stepEffects(const compiler::Loaded& loaded, const CommonOptions& options,
                                    const Given& given, JobContext& job)
{
    const auto cut = quantizedTail(loaded);
    if (!cut) return {};
    CommonOptions exact = options;
    exact.target = CommonOptions().target;
    exact.executor = CommonOptions().executor;
    exact.optLevel = 0;
    exact.threads = 1;
    exact.passConfig.clear();
    exact.disabledPasses.clear();
    auto effects = measured(*cut, exact, given, job);
    return effects ? std::move(*effects) : std::vector<StepEffect>();
}

} // namespace tenon::cli
