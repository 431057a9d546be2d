// SPDX-License-Identifier: Apache-2.0
// Ranking by single layers, then bisection over how many of them are wider.
#include "compiler/quantize/mixed_precision.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tenon::compiler {
namespace {

size_t at(Precision precision) { return static_cast<size_t>(precision); }

class Choosing
{
public:
    Choosing(PrecisionCosts layers, const MixQuestion& question, const MixTools& tools,
             JobContext& job)
        : m_costs(std::move(layers))
        , m_question(question)
        , m_tools(tools)
        , m_job(job)
    {
    }

    Result<ChosenPrecisions> run()
    {
        constexpr size_t kEnds = 3; // whole models of one precision
        m_steps = m_costs.layers.size() * (m_question.measures16Bits ? 2 : 1) + kEnds +
                  (m_question.measuresCurve ? m_question.curvePoints : 0);
        if (Status done = measureAlone(Precision::Int8); !done) return done.error();
        if (m_question.measures16Bits)
            if (Status done = measureAlone(Precision::Int16); !done) return done.error();
        const auto whole = m_tools.lossOf(PrecisionChoice(m_costs.layers.size(), Precision::Int8));
        if (!whole) return whole.error();
        m_costs.wholeLoss = *whole;
        if (m_question.price)
            if (Status done = measureEnds(); !done) return done.error();
        const auto count = chooseCount();
        if (!count) return count.error();
        ChosenPrecisions out{m_costs, predictedCurve(m_costs), widened(m_costs, *count)};
        if (m_question.measuresCurve)
            if (Status done = measureCurve(out.curve); !done) return done.error();
        return out;
    }

private:
    /// A step begins.
    void report(const std::string& text)
    {
        m_job.progress(static_cast<double>(m_begun++) / static_cast<double>(m_steps), text);
    }

    /// One layer quantized, all others in float.
    Status measureAlone(Precision precision)
    {
        std::vector<LayerCost>& layers = m_costs.layers;
        for (size_t i = 0; i < layers.size(); ++i) {
            if (const Status go = m_job.checkStop(); !go) return go;
            report("layer " + std::to_string(i + 1) + " of " + std::to_string(layers.size()) +
                   " alone in " + std::string(nameOf(precision)) + ": " + layers[i].layer);
            PrecisionChoice choice(layers.size(), Precision::Float);
            choice[i] = precision;
            const auto loss = m_tools.lossOf(choice);
            if (!loss) return loss.error();
            layers[i].loss[at(precision)] = *loss;
        }
        return kDone;
    }

    Result<PricedModel> priceOf(const PrecisionChoice& choice)
    {
        if (const Status go = m_job.checkStop(); !go) return go.error();
        const auto bytes = m_tools.write(choice);
        if (!bytes) return bytes.error();
        return m_question.price(*bytes, m_job);
    }

    /// Whole models of one precision say what each of their layers takes.
    Status measureEnds()
    {
        for (const Precision precision : {Precision::Float, Precision::Int8, Precision::Int16}) {
            if (precision == Precision::Int16 && !m_question.measures16Bits) continue;
            report("all layers in " + std::string(nameOf(precision)) + ": compiling, running");
            const auto priced = priceOf(PrecisionChoice(m_costs.layers.size(), precision));
            if (!priced) return priced.error();
            if (precision == Precision::Float) m_costs.inFloat = priced->cost;
            if (precision == Precision::Int8) m_costs.in8Bits = priced->cost;
            m_costs.place = priced->place;
            m_costs.timeUnit = priced->timeUnit;
            m_costs.isEmulated = priced->isEmulated;
            for (const PricedCall& call : priced->calls) addTime(call, at(precision));
        }
        return kDone;
    }

    /// Layers that are one kernel share its time.
    void addTime(const PricedCall& call, size_t precision)
    {
        std::vector<LayerCost*> inside;
        for (LayerCost& layer : m_costs.layers)
            if (std::find(call.nodes.begin(), call.nodes.end(), layer.layer) != call.nodes.end())
                inside.push_back(&layer);
        for (LayerCost* layer : inside)
            layer->time[precision] += call.time / static_cast<double>(inside.size());
    }

    Result<size_t> chooseCount()
    {
        const size_t all = byHarm(m_costs).size();
        const MixLimits& limits = m_question.limits;
        size_t least = 0;
        if (limits.loss > 0) {
            const auto found = fewestFor(limits.loss, all);
            if (!found) return found;
            least = *found;
        }
        if (limits.flashBytes == 0 && limits.time == 0) return least;
        const auto most = mostWithin(all);
        if (!most) return most;
        if (*most < least)
            return makeError(DiagnosticCode::BadArgument,
                             "a loss of at most " + exact(limits.loss) + " needs " +
                                 std::to_string(least) +
                                 " layers with more than 8 bits, but size and time have room for " +
                                 std::to_string(*most) + " only; allow more of either");
        return limits.loss > 0 ? least : *most;
    }

    /// More wider layers lose less, nearly always: bisection finds a number that is enough.
    Result<size_t> fewestFor(double limit, size_t all)
    {
        if (m_costs.wholeLoss <= limit && all == m_costs.layers.size()) return size_t{0};
        size_t tooFew = 0, enough = all;
        if (all < m_costs.layers.size()) { // pinned ones are not in the whole
            const auto none = m_tools.lossOf(widened(m_costs, 0));
            if (!none) return none.error();
            if (*none <= limit) return size_t{0};
        }
        while (enough > tooFew + 1) {
            const size_t count = (tooFew + enough) / 2;
            const auto loss = m_tools.lossOf(widened(m_costs, count));
            if (!loss) return loss.error();
            (*loss <= limit ? enough : tooFew) = count;
        }
        if (enough < all || m_costs.wider == Precision::Float) return enough;
        const auto least = m_tools.lossOf(widened(m_costs, all));
        if (!least) return least.error();
        if (*least <= limit) return enough;
        return makeError(DiagnosticCode::BadArgument,
                         "with every layer wider the outputs still lose " + exact(*least) +
                             ", more than " + exact(limit) +
                             "; allow more, or let layers stay in float");
    }

    Result<bool> fits(size_t count)
    {
        const MixLimits& limits = m_question.limits;
        const auto priced = priceOf(widened(m_costs, count));
        if (!priced) return priced.error();
        m_last = priced->cost;
        return (limits.flashBytes == 0 || priced->cost.flashBytes <= limits.flashBytes) &&
               (limits.time == 0 || priced->cost.time <= limits.time);
    }

    /// "204800 bytes and 500 us": those limits that there are.
    std::string limitsText() const
    {
        const MixLimits& limits = m_question.limits;
        std::string text;
        if (limits.flashBytes > 0) text = std::to_string(limits.flashBytes) + " bytes";
        if (limits.time > 0)
            text += (text.empty() ? "" : " and ") + exact(limits.time) + " " + m_costs.timeUnit;
        return text;
    }

    /// The most harmful layers have the first claim on the room that there is.
    Result<size_t> mostWithin(size_t all)
    {
        const auto none = fits(0);
        if (!none) return none.error();
        if (!*none)
            return makeError(DiagnosticCode::BadArgument,
                             "in 8 bits the model takes " + std::to_string(m_last.flashBytes) +
                                 " bytes and " + exact(std::round(m_last.time * 10) / 10) + " " +
                                 m_costs.timeUnit + " on " + m_costs.place + ", more than the " +
                                 limitsText() + " that it may");
        const auto whole = fits(all);
        if (!whole) return whole.error();
        if (*whole) return all;
        size_t enough = 0, tooMany = all;
        while (tooMany > enough + 1) {
            const size_t count = (enough + tooMany) / 2;
            const auto fit = fits(count);
            if (!fit) return fit.error();
            (*fit ? enough : tooMany) = count;
        }
        return enough;
    }

    /// Both ends, and points evenly between them.
    Status measureCurve(std::vector<CurvePoint>& curve)
    {
        std::set<size_t> places;
        const size_t last = curve.size() - 1,
                     parts = std::max<size_t>(m_question.curvePoints, 2) - 1;
        for (size_t i = 0; i <= parts; ++i) places.insert(i * last / parts);
        for (const size_t place : places) {
            report(std::to_string(place) + " of " + std::to_string(last) + " layers in " +
                   std::string(nameOf(m_costs.wider)) + ": compiling, running");
            const PrecisionChoice choice = widened(m_costs, place);
            const auto loss = m_tools.lossOf(choice);
            if (!loss) return loss.error();
            const auto bytes = m_tools.write(choice);
            if (!bytes) return bytes.error();
            MeasuredCost measured{
                .loss = *loss, .fileBytes = static_cast<int64_t>(bytes->size()), .cost = {}};
            if (m_question.price) {
                const auto priced = m_question.price(*bytes, m_job);
                if (!priced) return priced.error();
                measured.cost = priced->cost;
            }
            curve[place].measured = measured;
        }
        return kDone;
    }

    PrecisionCosts m_costs;
    const MixQuestion& m_question;
    const MixTools& m_tools;
    JobContext& m_job;
    size_t m_steps = 1, m_begun = 0;
    ModelCost m_last;
};

} // namespace

Result<ChosenPrecisions> choosePrecisions(PrecisionCosts layers, const MixQuestion& question,
                                          const MixTools& tools, JobContext& job)
{
    return Choosing(std::move(layers), question, tools, job).run();
}

} // namespace tenon::compiler
