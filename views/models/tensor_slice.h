// SPDX-License-Identifier: GPL-3.0-or-later
// Two axes of a tensor as a picture, and what its values are as a whole.
#pragma once

#include "core/compare/tensor_error.h"
#include "views/models/table_model.h"

#include <QString>

#include <functional>
#include <vector>

namespace tenon::views {

/// Which two axes are shown, and where along the others.
struct SliceChoice
{
    int rowAxis = -1; ///< -1: one row
    int columnAxis = -1;
    std::vector<int64_t> at; ///< of every axis; what stands at the two shown ones is of no use

    friend bool operator==(const SliceChoice&, const SliceChoice&) = default;
};

/// The last two axes, through an element; -1: the first one.
SliceChoice sliceThrough(const std::vector<int64_t>& shape, int64_t element);

/// What integers of one side of a comparison stand for; a reference of floats is what it is.
core::QuantizedUnits unitsOfSide(const core::QuantizedUnits& units, const core::Tensor& side);

/// A tensor and what its integers stand for.
struct RealTensor
{
    core::Tensor tensor;
    core::QuantizedUnits units = {};

    double at(int64_t element) const;
};

/// Cells of a picture. One of a large slice stands for several elements, of which it has the one
/// that is furthest from zero.
struct Raster
{
    int rows = 0;
    int columns = 0;
    std::vector<double> values;
    int64_t elementsPerRow = 1; ///< of the tensor, in one row of cells
    int64_t elementsPerColumn = 1;

    double at(int row, int column) const
    {
        return values[static_cast<size_t>(row) * static_cast<size_t>(columns) +
                      static_cast<size_t>(column)];
    }
};

Raster sliceOf(const RealTensor& tensor, const SliceChoice& choice);
/// Of two tensors of one shape: the second less the first.
Raster sliceOfDifference(const RealTensor& reference, const RealTensor& device,
                         const SliceChoice& choice);
/// The element that stands first in a cell.
int64_t elementOf(const std::vector<int64_t>& shape, const SliceChoice& choice,
                  const Raster& raster, int row, int column);

struct TensorStatistics
{
    int64_t elements = 0;
    double least = 0; ///< of the finite ones
    double greatest = 0;
    double mean = 0;
    int64_t zeros = 0;
    int64_t nans = 0;
    int64_t infinite = 0;
};

/// Both sides over the same bins.
struct ValueHistogram
{
    double least = 0;
    double greatest = 0;
    std::vector<int64_t> reference;
    std::vector<int64_t> device;
};

/// Of all values of both sides.
struct TensorDigest
{
    TensorStatistics reference;
    TensorStatistics device;
    TensorStatistics difference;
    ValueHistogram histogram;
};
TensorDigest digestOf(const RealTensor& reference, const RealTensor& device,
                      const std::function<bool()>& shouldStop);

/// A line of statistics.
struct StatisticRow
{
    QString name;
    double reference = 0;
    double device = 0;
    double difference = 0;
    bool isCount = false;
};
using StatisticModel = TableModel<StatisticRow>;
StatisticModel* makeStatisticModel(QObject* parent);
std::vector<StatisticRow> statisticRows(const TensorDigest& digest);

/// "0.0312", "NaN", "∞".
QString valueText(double value);

} // namespace tenon::views
