// SPDX-License-Identifier: GPL-3.0-or-later
// TensorPresenter: the values of the selected tensor of a comparison, slice by slice.
#pragma once

#include "views/models/tensor_slice.h"
#include "views/presenters/compare_presenter.h"

namespace tenon::views {

struct TensorState
{
    bool hasTensor = false; ///< values are there
    bool isLoading = false;
    QString title;   ///< of the tensor; empty: none is selected
    QString caption; ///< its type, and what its integers stand for
    QString problem; ///< why there are no values
    std::vector<int64_t> shape;
    SliceChoice slice;
    Raster reference, device, difference;
    TensorDigest digest;
};

class TensorPresenter : public QObject
{
    Q_OBJECT
public:
    explicit TensorPresenter(ComparePresenter& compare, QObject* parent = nullptr);

    const TensorState& state() const { return m_state; }
    StatisticModel& statistics() { return *m_statistics; }
    /// "[0, 3, 12, 5]: 0.25 instead of 0.5" of a cell; of a large slice the first element in it.
    QString cellText(int row, int column) const;

public slots:
    /// The axis that was there goes where this one was.
    void setRowAxis(int axis);
    void setColumnAxis(int axis);
    /// Where along an axis that is not shown; what is outside is taken as the nearest.
    void setIndex(int axis, qint64 index);
    /// The slice with the largest difference.
    void showWorst();

signals:
    void stateChanged();

private:
    struct Loaded
    {
        TensorValues values;
        TensorDigest digest;
    };
    using Values = decltype(CompareEngine::values);
    void load();
    void fetch(const Values& values, const core::QuantizedUnits& units);
    void take(const Loaded& loaded);
    void cut();

    ComparePresenter& m_compare;
    TensorState m_state;
    RealTensor m_reference, m_device;
    int64_t m_worst = -1;
    int m_loads = 0;
    StatisticModel* m_statistics;
};

} // namespace tenon::views
