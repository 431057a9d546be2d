// SPDX-License-Identifier: GPL-3.0-or-later
// Values are fetched and counted in a job; slices are cut at once.
#include "views/presenters/tensor_presenter.h"

#include <QPointer>

#include <algorithm>

namespace tenon::views {

namespace {

const QString kKey = QStringLiteral("compare.tensor");

} // namespace

TensorPresenter::TensorPresenter(ComparePresenter& compare, QObject* parent)
    : QObject(parent)
    , m_compare(compare)
    , m_statistics(makeStatisticModel(this))
{
    connect(&compare, &ComparePresenter::selectionChanged, this, &TensorPresenter::load);
}

void TensorPresenter::load()
{
    ++m_loads;
    const core::Comparison* comparison = m_compare.comparison();
    const int selected = m_compare.state().selected;
    m_state = {};
    m_reference = m_device = {};
    m_statistics->setRows({});
    const auto values = m_compare.workspace().engine().comparing.values;
    if (!comparison || selected < 0 || !values) {
        m_compare.workspace().jobs().cancelKey(kKey);
        emit stateChanged();
        return;
    }
    const core::ComparedTensor& tensor = comparison->tensors[static_cast<size_t>(selected)];
    m_worst = tensor.cumulative.worst;
    m_state.title = QString::fromStdString(tensor.name);
    m_state.caption = QString::fromStdString(tensor.type);
    if (const QString units = unitsText(tensor.units); !units.isEmpty())
        m_state.caption += QStringLiteral(" · ") + units;
    m_state.isLoading = true;
    fetch(values, tensor.units);
    emit stateChanged();
}

void TensorPresenter::fetch(const Values& values, const core::QuantizedUnits& units)
{
    const auto slot = std::make_shared<Loaded>();
    m_compare.workspace().jobs().startQuietly(
        kKey,
        [slot, values, outcome = m_compare.outcome(), selected = m_compare.state().selected,
         units](core::JobContext& job) -> core::Status {
            auto read = values(outcome, static_cast<size_t>(selected), job);
            if (!read) return read.error();
            slot->values = *std::move(read);
            const core::Tensor &reference = slot->values.reference, &device = slot->values.device;
            slot->digest = digestOf({reference, unitsOfSide(units, reference)},
                                    {device, unitsOfSide(units, device)},
                                    [&job] { return job.stopRequested(); });
            return job.checkStop();
        },
        [self = QPointer<TensorPresenter>(this), slot, load = m_loads](const core::Status& status) {
            if (!self || load != self->m_loads) return;
            self->m_state.isLoading = false;
            if (status)
                self->take(*slot);
            else if (status.error().code != core::DiagnosticCode::Cancelled)
                self->m_state.problem = QString::fromStdString(status.error().message);
            emit self->stateChanged();
        });
}

void TensorPresenter::take(const Loaded& loaded)
{
    const core::Comparison* comparison = m_compare.comparison();
    const auto selected = static_cast<size_t>(m_compare.state().selected);
    if (!comparison || selected >= comparison->tensors.size()) return;
    const core::QuantizedUnits& units = comparison->tensors[selected].units;
    m_reference = {loaded.values.reference, unitsOfSide(units, loaded.values.reference)};
    m_device = {loaded.values.device, unitsOfSide(units, loaded.values.device)};
    m_state.hasTensor = true;
    m_state.digest = loaded.digest;
    m_state.shape = loaded.values.reference.shape();
    m_state.slice = sliceThrough(m_state.shape, m_worst);
    m_statistics->setRows(statisticRows(m_state.digest));
    cut();
}

void TensorPresenter::cut()
{
    m_state.reference = sliceOf(m_reference, m_state.slice);
    m_state.device = sliceOf(m_device, m_state.slice);
    m_state.difference = sliceOfDifference(m_reference, m_device, m_state.slice);
}

void TensorPresenter::setRowAxis(int axis)
{
    SliceChoice& slice = m_state.slice;
    if (!m_state.hasTensor || axis == slice.rowAxis || axis < 0 ||
        axis >= static_cast<int>(m_state.shape.size()))
        return;
    if (axis == slice.columnAxis) slice.columnAxis = slice.rowAxis;
    slice.rowAxis = axis;
    cut();
    emit stateChanged();
}

void TensorPresenter::setColumnAxis(int axis)
{
    SliceChoice& slice = m_state.slice;
    if (!m_state.hasTensor || axis == slice.columnAxis || axis < 0 ||
        axis >= static_cast<int>(m_state.shape.size()))
        return;
    if (axis == slice.rowAxis) slice.rowAxis = slice.columnAxis;
    slice.columnAxis = axis;
    cut();
    emit stateChanged();
}

void TensorPresenter::setIndex(int axis, qint64 index)
{
    if (!m_state.hasTensor || axis < 0 || axis >= static_cast<int>(m_state.shape.size())) return;
    const auto i = static_cast<size_t>(axis);
    const int64_t taken = std::clamp<int64_t>(index, 0, std::max<int64_t>(0, m_state.shape[i] - 1));
    if (taken == m_state.slice.at[i]) return;
    m_state.slice.at[i] = taken;
    cut();
    emit stateChanged();
}

void TensorPresenter::showWorst()
{
    if (!m_state.hasTensor || m_worst < 0) return;
    const SliceChoice axes = m_state.slice;
    m_state.slice = sliceThrough(m_state.shape, m_worst);
    m_state.slice.rowAxis = axes.rowAxis;
    m_state.slice.columnAxis = axes.columnAxis;
    cut();
    emit stateChanged();
}

QString TensorPresenter::cellText(int row, int column) const
{
    if (!m_state.hasTensor || row < 0 || column < 0 || row >= m_state.reference.rows ||
        column >= m_state.reference.columns)
        return {};
    int64_t element = elementOf(m_state.shape, m_state.slice, m_state.reference, row, column);
    QStringList at;
    for (size_t i = m_state.shape.size(); i-- > 0;) {
        at.prepend(QString::number(element % m_state.shape[i]));
        element /= m_state.shape[i];
    }
    QString text =
        tr("[%1]: %2 instead of %3, difference %4")
            .arg(at.join(QStringLiteral(", ")), valueText(m_state.device.at(row, column)),
                 valueText(m_state.reference.at(row, column)),
                 valueText(m_state.difference.at(row, column)));
    const int64_t together = m_state.reference.elementsPerRow * m_state.reference.elementsPerColumn;
    if (together > 1) text += tr("; the furthest from zero of %1 elements each").arg(together);
    return text;
}

} // namespace tenon::views
