// SPDX-License-Identifier: GPL-3.0-or-later
// PrecisionMix: which layers compute with how many bits, as the user is choosing: some are asked
// for, of the others the most harmful ones are wider; and the curve that this choice lies on.
#pragma once

#include "views/models/quantize_rows.h"

namespace tenon::views {

struct LayerRow
{
    size_t layer = 0; ///< of the costs
    QString name;
    QString op;
    core::Precision precision = core::Precision::Int8;
    bool isPinned = false;
    double aloneLoss = 0;
    double wideLoss = 0;              ///< with data of 16 bits; 0: not measured
    std::optional<double> measuredDb; ///< of what it makes in the written model
    qint64 weightBytes = 0;
    double int8Time = 0; ///< 0: not known
    double floatTime = 0;
    bool isOfTime = true; ///< microseconds; else instructions
    double share = 0;     ///< of the most harmful layer's loss
    core::NodeId node;
};
using LayerModel = TableModel<LayerRow>;
LayerModel* makeLayerModel(QObject* parent);
/// "int8", in bold where it was asked for.
constexpr int kPrecisionColumn = 1;

/// What a mix is drawn against.
enum class MixAxis : uint8_t
{
    Flash,
    Time
};

struct MixDot
{
    double x = 0; ///< bytes, or the time
    double loss = 0;
    bool isMeasured = false;
    size_t widerLayers = 0;
};

/// Error against size or time, from all in 8 bits to all wider.
struct MixCurve
{
    MixAxis axis = MixAxis::Flash;
    QString timeUnit;
    QString wider; ///< "float", "int16"
    std::vector<MixDot> predicted;
    std::vector<MixDot> measured;
    std::optional<MixDot> chosen;
    QString problem; ///< why there is nothing to draw
    bool isEmpty() const { return predicted.empty(); }
};

class PrecisionMix
{
public:
    PrecisionMix() = default;
    /// As the written model has it.
    PrecisionMix(const core::PrecisionCosts& costs, const std::vector<core::CurvePoint>& curve,
                 const core::PrecisionChoice& choice);

    bool isEmpty() const { return m_costs.layers.empty(); }
    const core::PrecisionCosts& costs() const { return m_costs; }
    core::PrecisionChoice choice() const { return core::widened(m_costs, m_wider); }
    size_t wider() const { return m_wider; }
    core::PredictedCost predicted() const { return core::predict(m_costs, choice()); }
    /// What was measured of the choice, where it was: on the curve, or when it was written.
    std::optional<core::MeasuredCost> measured() const;
    bool isChanged() const { return choice() != m_written; }
    /// The choice is somebody's, written or not yet; else limits make it.
    bool isByHand() const { return isChanged() || m_wasWrittenByHand; }
    /// Limits make the choice again, but for what was changed since it was written.
    void leaveToLimits() { m_wasWrittenByHand = false; }
    /// The layer stays so whatever the curve does; nothing: the curve decides again.
    void pin(size_t layer, std::optional<core::Precision> precision);
    void setWider(size_t count);
    /// The choice was written and measured.
    void noteWritten(const core::MeasuredCost& measured);
    QStringList layersIn(core::Precision precision) const;
    MixCurve curve(MixAxis axis) const;
    std::vector<LayerRow> rows() const;

private:
    core::PrecisionCosts m_costs;
    std::vector<core::CurvePoint> m_measured;
    core::PrecisionChoice m_written;
    struct Other ///< measured on its own
    {
        core::PrecisionChoice choice;
        core::MeasuredCost cost;
    };
    std::vector<Other> m_others;
    bool m_wasWrittenByHand = false;
    bool m_hasPins = false; ///< other than those with which the curve was measured
    size_t m_wider = 0;
};

/// "0.412 %": a loss of outputs.
QString lossText(double loss);
/// "0.02 %": a round share with the digits that it has.
QString plainPercentText(double share);
/// "1,203 µs", "5.20 M instructions".
QString mixTimeText(double time, const QString& unit);

} // namespace tenon::views
