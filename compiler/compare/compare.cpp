// SPDX-License-Identifier: Apache-2.0
// One comparison: the device's programs in pieces, then one data set after another.
#include "compiler/compare/compare.h"

#include "compiler/compare/expected_rounding.h"
#include "compiler/compare/held_values.h"
#include "compiler/compare/reference_reach.h"
#include "compiler/compare/taps.h"
#include "compiler/compare/tensor_readers.h"
#include "core/base/text.h"

#include <algorithm>
#include <unordered_map>

namespace tenon::compiler {
namespace {

/// Words as the bytes they hold, which are what a step is one of.
Tensor asBytes(const Tensor& words)
{
    std::vector<int64_t> shape = words.shape();
    shape.push_back(words.dtype().bytes());
    return Tensor::make(kInt8, std::move(shape), [&](std::span<std::byte> out) {
        std::copy(words.bytes().begin(), words.bytes().end(), out.begin());
    });
}

/// A program of the device's side and what its outputs are.
struct Piece
{
    CompileResultPtr program;
    std::vector<ValueRef> outputs;       ///< of the lowered main function
    std::vector<ValueRef> inputs = {};   ///< of a program of calls that stand alone
    std::vector<std::string> names = {}; ///< of those inputs
};

class CompareRun
{
public:
    CompareRun(const CompareRequest& request, JobContext& job)
        : m_request(request)
        , m_job(job)
    {
    }

    Result<Comparison> run()
    {
        auto built = compile(m_request.loaded, m_request.options, m_job, 0, &m_trail);
        if (!built) return built.error();
        CHECK(!m_request.sets.empty()) << "a comparison needs data";
        m_built = *built;
        m_values.emplace(*m_built, m_trail);
        m_rounding.emplace(*m_built);
        describe();
        m_isSeen.resize(m_rows.size());
        if (m_out.tensors.empty())
            return makeError(DiagnosticCode::UnsupportedFeature,
                             "the compiled model calls no kernel outside of control flow; there is "
                             "nothing to compare");
        if (Status done = buildTapped(); !done) return done.error();
        if (m_request.isolates)
            if (Status done = buildApart(); !done) return done.error();
        m_out.builds = m_tapped.size() + m_apart.size();
        for (size_t set = 0; set < m_request.sets.size(); ++set)
            if (Status done = runSet(set); !done) return done.error();
        judgeRounded(m_out, readersOf(lowered(), m_rows));
        return std::move(m_out);
    }

private:
    const Module& lowered() const { return m_built->passes.last(); }
    const Module& imported() const { return m_built->passes.imported; }
    bool isOtherModel() const { return m_request.limits.isOtherModel; }

    void describe()
    {
        m_out.model = m_built->loaded->name;
        m_out.target = m_built->target.text();
        m_out.executor = std::string(executorName(m_built->options.executor));
        m_out.optLevel = m_built->options.optLevel;
        m_out.sets = m_request.sets.size();
        m_out.limits = m_request.limits;
        m_out.absorbed = m_values->absorbed();
        const auto& calls = m_values->calls();
        for (size_t c = 0; c < calls.size(); ++c)
            for (uint32_t i = 0; i < static_cast<uint32_t>(calls[c]->outputCount); ++i)
                describe(c, {calls[c]->node, i});
        if (m_values->hiddenCalls() > 0)
            note(std::to_string(m_values->hiddenCalls()) +
                 " kernel calls run inside of control flow, where nothing can be tapped");
    }

    void describe(size_t call, ValueRef value)
    {
        const KernelCall& at = *m_values->calls()[call];
        ComparedTensor out{.call = call,
                           .function =
                               m_built->program.kernels[static_cast<size_t>(at.kernel)].function,
                           .title = at.title,
                           .nodes = at.fromNodes,
                           .sources = at.sources};
        const Counterpart* known = m_values->counterpart(value);
        out.isInModel = known != nullptr;
        out.name = known ? m_values->nameOf(known->model) : at.name;
        out.type = (known ? imported().type(known->model) : lowered().type(value)).text();
        if (known) {
            out.form = formText(known->form);
            out.units = unitsOf(imported(), known->model);
        }
        m_rowOf[value] = m_out.tensors.size();
        m_rows.push_back(value);
        m_out.tensors.push_back(std::move(out));
    }

    /// Source is for microcontrollers, whose memory holds no more than a few tensors.
    int64_t pieceBytes() const
    {
        constexpr int64_t kSmall = int64_t{64} << 10, kUsual = int64_t{32} << 20;
        if (m_request.pieceBytes > 0) return m_request.pieceBytes;
        return m_built->machine.backEnd->sources ? kSmall : kUsual;
    }

    int64_t bytesOf(ValueRef value) const
    {
        const TensorType& type = lowered().type(value);
        return constantShape(type.shape) ? type.bytes() : 0;
    }

    int64_t bytesOfCall(const NodeRecord& call) const
    {
        int64_t bytes = 0;
        for (const ValueRef& operand : call.operands)
            if (operand.node.isValid() && lowered().node(operand.node).kind != NodeKind::Constant)
                bytes += bytesOf(operand);
        for (uint32_t i = 0; i < call.types.size(); ++i) bytes += bytesOf({call.id, i});
        return bytes;
    }

    /// Values in groups that hand out no more than one piece may.
    Status buildTapped()
    {
        for (size_t i = 0; i < m_rows.size();) {
            std::vector<ValueRef> values;
            for (int64_t bytes = 0; i < m_rows.size(); ++i) {
                bytes += bytesOf(m_rows[i]);
                if (!values.empty() && bytes > pieceBytes()) break;
                values.push_back(m_rows[i]);
            }
            auto program = rewired(*m_built, withTaps(lowered(), values), m_job);
            if (!program) return program.error();
            m_tapped.push_back({*program, std::move(values)});
        }
        return kDone;
    }

    /// Calls in groups, each call on inputs of its own.
    Status buildApart()
    {
        const auto& calls = m_values->calls();
        for (size_t c = 0; c < calls.size();) {
            std::vector<NodeId> group;
            for (int64_t bytes = 0; c < calls.size(); ++c) {
                const NodeRecord& call = lowered().node(calls[c]->node);
                if (!isFixed(call)) continue;
                bytes += bytesOfCall(call);
                if (!group.empty() && bytes > pieceBytes()) break;
                group.push_back(call.id);
            }
            if (group.empty()) break;
            CutModule cut = cutApart(lowered(), group);
            auto program = rewired(*m_built, cut.module, m_job);
            if (!program) return program.error();
            Piece piece{*program, {}, std::move(cut.inputs), std::move(cut.inputNames)};
            for (const NodeId id : group)
                for (uint32_t i = 0; i < lowered().node(id).types.size(); ++i)
                    piece.outputs.push_back({id, i});
            m_apart.push_back(std::move(piece));
        }
        return kDone;
    }

    /// True for a call whose shapes are all known: others cannot be fed alone.
    bool isFixed(const NodeRecord& call) const
    {
        for (const ValueRef& operand : call.operands)
            if (operand.node.isValid() && !constantShape(lowered().type(operand).shape))
                return false;
        return std::all_of(call.types.begin(), call.types.end(),
                           [](const TensorType& type) { return !!constantShape(type.shape); });
    }

    Status runSet(size_t set)
    {
        const NamedValues& inputs = m_request.sets[set];
        step(set, "the reference");
        auto reference = m_request.reference(m_values->modelValues(), inputs, m_job);
        if (!reference) return reference.error();
        for (const std::string& text : dropUnfit(*reference, imported(), *m_values)) note(text);
        m_reach.emplace(*m_built, *m_values, *reference);
        if (const std::string text = m_reach->text(); isOtherModel() && !text.empty()) note(text);
        HeldValues held(*m_built, *m_values, *reference, inputs);
        std::vector<std::optional<TensorError>> errors(m_rows.size()), alone(m_rows.size());
        for (const Piece& piece : m_tapped) {
            step(set, "every tensor");
            auto outputs = m_request.device(piece.program, inputs, m_job);
            if (!outputs) return outputs.error();
            if (Status done = judge(piece, *outputs, held, *reference, errors); !done) return done;
        }
        for (const Piece& piece : m_apart) {
            step(set, "every kernel alone");
            auto fed = feed(piece, held);
            if (!fed) continue; // said of its tensors by their having no isolated error
            auto outputs = m_request.device(piece.program, *fed, m_job);
            if (!outputs) return outputs.error();
            if (Status done = judge(piece, *outputs, held, *reference, alone); !done) return done;
        }
        for (size_t row = 0; row < m_rows.size(); ++row)
            merge(m_out.tensors[row], row, set, errors[row], alone[row]);
        return m_request.noise ? measureNoise(set, *reference) : kDone;
    }

    /// How far each tensor of the model is moved by the order of sums alone.
    Status measureNoise(size_t set, const ReferenceValues& reference)
    {
        const NamedValues& inputs = m_request.sets[set];
        const NoiseSources& noise = *m_request.noise;
        const std::vector<ValueRef> wanted = m_values->modelValues();
        step(set, "sums from the end");
        const auto backwards = noise.backwards(wanted, inputs, m_job);
        if (!backwards) return backwards.error();
        Result<ReferenceValues> own = ReferenceValues();
        if (noise.forwards) own = noise.forwards(wanted, inputs, m_job);
        if (!own) return own.error();
        const ReferenceValues& forwards = noise.forwards ? *own : reference;
        for (size_t row = 0; row < m_rows.size(); ++row) {
            const Counterpart* known = m_values->counterpart(m_rows[row]);
            if (!known || !forwards.contains(known->model)) continue;
            const QuantizedUnits& units = m_out.tensors[row].units;
            const TensorError error =
                tensorError(backwards->at(known->model), units, forwards.at(known->model), units,
                            m_request.limits);
            auto& worst = m_out.tensors[row].noise;
            if (!worst || &worse(*worst, error) == &error) worst = error;
        }
        return kDone;
    }

    /// One of the runs of all sets starts.
    void step(size_t set, const std::string& what)
    {
        const size_t all = m_request.sets.size() *
                           (1 + m_tapped.size() + m_apart.size() + (m_request.noise ? 1 : 0));
        m_job.progress(static_cast<double>(m_steps++) / static_cast<double>(all),
                       "data set " + std::to_string(set + 1) + " of " +
                           std::to_string(m_request.sets.size()) + ": " + what);
    }

    /// Once, however many data sets say so.
    void note(const std::string& text)
    {
        std::vector<std::string>& notes = m_out.notCompared;
        if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
    }

    Result<NamedValues> feed(const Piece& piece, HeldValues& held)
    {
        NamedValues out;
        for (size_t i = 0; i < piece.inputs.size(); ++i) {
            auto tensor = held.of(piece.inputs[i], m_job);
            if (!tensor) return tensor.error();
            out.emplace_back(piece.names[i], std::move(*tensor));
        }
        return out;
    }

    /// The error of every output of the piece, in the model's form where it has one.
    Status judge(const Piece& piece, const std::vector<Tensor>& outputs, HeldValues& held,
                 const ReferenceValues& reference, std::vector<std::optional<TensorError>>& errors)
    {
        CHECK(outputs.size() == piece.outputs.size()) << "a program lost outputs";
        const bool isCumulative = piece.inputs.empty();
        for (size_t i = 0; i < outputs.size(); ++i) {
            const size_t row = m_rowOf.at(piece.outputs[i]);
            const Counterpart* known = m_values->counterpart(piece.outputs[i]);
            const auto wanted = known ? reference.find(known->model) : reference.end();
            ComparedTensor& tensor = m_out.tensors[row];
            tensor.isInReference = wanted != reference.end() || !isOtherModel();
            const KernelCall& call = *m_values->calls()[tensor.call];
            if (!isCumulative && isOtherModel() && tensor.isInReference && !m_reach->feeds(call))
                continue; // the error of everything before it would pass for its own
            Tensor got = outputs[i], want;
            if (wanted != reference.end()) {
                got = toModel(known->form, got);
                want = wanted->second;
            } else {
                if (isCumulative)
                    if (Status taken = held.takeUndefined(piece.outputs[i], got, m_job); !taken)
                        return taken;
                auto computed = held.of(piece.outputs[i], m_job);
                if (!computed) continue;
                want = std::move(*computed);
                if (m_values->holdsBytes(piece.outputs[i])) {
                    got = asBytes(got);
                    want = asBytes(want);
                }
            }
            if (got.size() != want.size())
                return makeError(DiagnosticCode::NumericMismatch,
                                 "the device gives " + got.typeText() + " for " +
                                     core::quoted(tensor.name) + ", the reference " +
                                     want.typeText());
            ErrorLimits limits = m_request.limits;
            if (!isCumulative && limits.holdsToRounding)
                limits.rounding = m_rounding->of(call, held, m_job);
            errors[row] = errorOf(known, got, tensor.units, want, limits);
            if (isCumulative)
                if (Status kept = keep(row, want, got, *errors[row]); !kept) return kept;
        }
        return kDone;
    }

    /// Floats that were integers may be a step off where roundings before them, of `known`, differ.
    TensorError errorOf(const Counterpart* known, const Tensor& got, const QuantizedUnits& units,
                        const Tensor& want, const ErrorLimits& limits) const
    {
        const auto behind = known ? integersBehind(imported(), known->model) : std::nullopt;
        const auto gotSteps = behind ? inWholeSteps(got, *behind) : std::nullopt;
        const auto wantSteps = gotSteps ? inWholeSteps(want, *behind) : std::nullopt;
        if (wantSteps)
            return tensorError(*gotSteps, behind->units, *wantSteps, behind->units, limits);
        return tensorError(got, units, want, want.dtype().isFloat() ? QuantizedUnits() : units,
                           limits);
    }

    bool isWorst(size_t row, const TensorError& error) const
    {
        const ComparedTensor& tensor = m_out.tensors[row];
        return !m_isSeen[row] || &worse(tensor.cumulative, error) == &error;
    }

    Status keep(size_t row, const Tensor& wanted, const Tensor& got, const TensorError& error)
    {
        if (!m_request.keep || !isWorst(row, error)) return kDone;
        return m_request.keep(row, wanted, got);
    }

    /// The set in which the tensor is furthest off stays.
    void merge(ComparedTensor& tensor, size_t row, size_t set,
               const std::optional<TensorError>& error, const std::optional<TensorError>& alone)
    {
        if (error && isWorst(row, *error)) {
            tensor.cumulative = *error;
            tensor.set = set;
            m_isSeen[row] = true;
        }
        if (alone && (!tensor.isolated || &worse(*tensor.isolated, *alone) == &*alone))
            tensor.isolated = alone;
    }

    const CompareRequest& m_request;
    JobContext& m_job;
    ValueTrail m_trail;
    CompileResultPtr m_built;
    std::optional<ProgramValues> m_values;
    std::optional<ExpectedRounding> m_rounding;
    std::optional<ReferenceReach> m_reach; ///< of the data set that runs
    std::vector<ValueRef> m_rows;          ///< value of each tensor of the comparison
    std::unordered_map<ValueRef, size_t> m_rowOf;
    std::vector<Piece> m_tapped;
    std::vector<Piece> m_apart;
    size_t m_steps = 0;
    std::vector<bool> m_isSeen; ///< by row: some set has an error of it
    Comparison m_out;
};

} // namespace

Result<Comparison> compareTensors(const CompareRequest& request, JobContext& job)
{
    return CompareRun(request, job).run();
}

} // namespace tenon::compiler
