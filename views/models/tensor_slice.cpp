// SPDX-License-Identifier: GPL-3.0-or-later
// Slices, statistics and histograms of tensors.
#include "views/models/tensor_slice.h"

#include "views/models/format.h"

#include <QObject>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace tenon::views {

namespace {

constexpr int64_t kMostCells = 384; ///< in one direction: more than a picture has room for
constexpr size_t kBins = 64;

int64_t sizeOf(const std::vector<int64_t>& shape, int axis)
{
    return axis < 0 ? 1 : shape[static_cast<size_t>(axis)];
}

std::vector<int64_t> stridesOf(const std::vector<int64_t>& shape)
{
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return strides;
}

/// Elements of a slice by row and column.
class SliceWalk
{
public:
    SliceWalk(const std::vector<int64_t>& shape, const SliceChoice& choice)
        : rows(sizeOf(shape, choice.rowAxis))
        , columns(sizeOf(shape, choice.columnAxis))
    {
        const std::vector<int64_t> strides = stridesOf(shape);
        for (size_t i = 0; i < shape.size(); ++i) {
            const int axis = static_cast<int>(i);
            if (axis == choice.rowAxis)
                m_rowStride = strides[i];
            else if (axis == choice.columnAxis)
                m_columnStride = strides[i];
            else if (i < choice.at.size())
                m_start += strides[i] * choice.at[i];
        }
    }
    int64_t element(int64_t row, int64_t column) const
    {
        return m_start + row * m_rowStride + column * m_columnStride;
    }
    const int64_t rows;
    const int64_t columns;

private:
    int64_t m_start = 0;
    int64_t m_rowStride = 0;
    int64_t m_columnStride = 0;
};

/// NaN is further from zero than anything else: it must be seen.
bool isFurther(double value, double than)
{
    if (std::isnan(than)) return false;
    return std::isnan(value) || std::fabs(value) > std::fabs(than);
}

Raster rasterOf(const SliceWalk& walk, const std::function<double(int64_t)>& valueAt)
{
    Raster out;
    out.elementsPerRow = std::max<int64_t>(1, (walk.rows + kMostCells - 1) / kMostCells);
    out.elementsPerColumn = std::max<int64_t>(1, (walk.columns + kMostCells - 1) / kMostCells);
    out.rows = static_cast<int>((walk.rows + out.elementsPerRow - 1) / out.elementsPerRow);
    out.columns =
        static_cast<int>((walk.columns + out.elementsPerColumn - 1) / out.elementsPerColumn);
    out.values.assign(static_cast<size_t>(out.rows) * static_cast<size_t>(out.columns), 0);
    for (int64_t row = 0; row < walk.rows; ++row)
        for (int64_t column = 0; column < walk.columns; ++column) {
            double& cell = out.values[static_cast<size_t>(row / out.elementsPerRow) *
                                          static_cast<size_t>(out.columns) +
                                      static_cast<size_t>(column / out.elementsPerColumn)];
            const double value = valueAt(walk.element(row, column));
            if (isFurther(value, cell)) cell = value;
        }
    return out;
}

double differenceAt(const RealTensor& reference, const RealTensor& device, int64_t element)
{
    const double wanted = reference.at(element), got = device.at(element);
    if (wanted == got || (std::isnan(wanted) && std::isnan(got))) return 0;
    return got - wanted;
}

class StatisticsTally
{
public:
    void add(double value)
    {
        ++m_out.elements;
        m_out.zeros += value == 0 ? 1 : 0;
        m_out.nans += std::isnan(value) ? 1 : 0;
        m_out.infinite += std::isinf(value) ? 1 : 0;
        if (!std::isfinite(value)) return;
        if (m_finite++ == 0) m_out.least = m_out.greatest = value;
        m_out.least = std::min(m_out.least, value);
        m_out.greatest = std::max(m_out.greatest, value);
        m_sum += value;
    }
    TensorStatistics result() const
    {
        TensorStatistics out = m_out;
        if (m_finite > 0) out.mean = m_sum / static_cast<double>(m_finite);
        return out;
    }

private:
    TensorStatistics m_out;
    int64_t m_finite = 0;
    double m_sum = 0;
};

ValueHistogram histogramOf(const RealTensor& reference, const RealTensor& device,
                           const TensorDigest& digest, const std::function<bool()>& shouldStop)
{
    ValueHistogram out;
    out.least = std::min(digest.reference.least, digest.device.least);
    out.greatest = std::max(digest.reference.greatest, digest.device.greatest);
    out.reference.assign(kBins, 0);
    out.device.assign(kBins, 0);
    const double width = out.greatest - out.least;
    const auto add = [&](double value, std::vector<int64_t>& bins) {
        if (!std::isfinite(value)) return;
        const double share = width > 0 ? (value - out.least) / width : 0;
        ++bins[std::min(kBins - 1, static_cast<size_t>(share * static_cast<double>(kBins)))];
    };
    constexpr int64_t kGlance = 1 << 16;
    for (int64_t i = 0; i < reference.tensor.size(); ++i) {
        if (i % kGlance == 0 && shouldStop()) break;
        add(reference.at(i), out.reference);
        add(device.at(i), out.device);
    }
    return out;
}

} // namespace

SliceChoice sliceThrough(const std::vector<int64_t>& shape, int64_t element)
{
    SliceChoice out;
    const int rank = static_cast<int>(shape.size());
    out.rowAxis = rank >= 2 ? rank - 2 : -1;
    out.columnAxis = rank - 1;
    out.at.assign(shape.size(), 0);
    for (size_t i = shape.size(); i-- > 0 && element > 0;) {
        if (shape[i] <= 0) return out;
        out.at[i] = element % shape[i];
        element /= shape[i];
    }
    return out;
}

core::QuantizedUnits unitsOfSide(const core::QuantizedUnits& units, const core::Tensor& side)
{
    return side.dtype().isFloat() ? core::QuantizedUnits() : units;
}

double RealTensor::at(int64_t element) const
{
    const double number = tensor.number(element);
    if (!units.isQuantized()) return number;
    size_t channel = 0;
    if (units.scales.size() > 1) {
        int64_t inner = 1;
        const auto axis = static_cast<size_t>(units.axis);
        const std::vector<int64_t>& shape = tensor.shape();
        for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
        channel = static_cast<size_t>(element / inner) % units.scales.size();
    }
    const int64_t zero = channel < units.zeros.size() ? units.zeros[channel]
                         : units.zeros.empty()        ? 0
                                                      : units.zeros[0];
    return (number - static_cast<double>(zero)) * units.scales[channel];
}

Raster sliceOf(const RealTensor& tensor, const SliceChoice& choice)
{
    return rasterOf(SliceWalk(tensor.tensor.shape(), choice),
                    [&](int64_t element) { return tensor.at(element); });
}

Raster sliceOfDifference(const RealTensor& reference, const RealTensor& device,
                         const SliceChoice& choice)
{
    return rasterOf(SliceWalk(reference.tensor.shape(), choice),
                    [&](int64_t element) { return differenceAt(reference, device, element); });
}

int64_t elementOf(const std::vector<int64_t>& shape, const SliceChoice& choice,
                  const Raster& raster, int row, int column)
{
    return SliceWalk(shape, choice)
        .element(row * raster.elementsPerRow, column * raster.elementsPerColumn);
}

TensorDigest digestOf(const RealTensor& reference, const RealTensor& device,
                      const std::function<bool()>& shouldStop)
{
    StatisticsTally wanted, got, difference;
    constexpr int64_t kGlance = 1 << 16;
    for (int64_t i = 0; i < reference.tensor.size(); ++i) {
        if (i % kGlance == 0 && shouldStop()) break;
        wanted.add(reference.at(i));
        got.add(device.at(i));
        difference.add(differenceAt(reference, device, i));
    }
    TensorDigest out{wanted.result(), got.result(), difference.result(), {}};
    out.histogram = histogramOf(reference, device, out, shouldStop);
    return out;
}

QString valueText(double value)
{
    if (std::isnan(value)) return QStringLiteral("NaN");
    if (std::isinf(value)) return value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
    return QString::number(value, 'g', 4);
}

StatisticModel* makeStatisticModel(QObject* parent)
{
    const auto column = [](const QString& title, double StatisticRow::*field) {
        return TableColumn<StatisticRow>{
            .title = title,
            .text =
                [field](const StatisticRow& row) {
                    return row.isCount ? countText(static_cast<qint64>(row.*field))
                                       : valueText(row.*field);
                },
            .isNumber = true,
            .key = [field](const StatisticRow& row) { return QVariant(row.*field); },
            .unit = QStringLiteral("")};
    };
    return new StatisticModel({{.title = QObject::tr("Of all elements"),
                                .text = [](const StatisticRow& row) { return row.name; }},
                               column(QObject::tr("Reference"), &StatisticRow::reference),
                               column(QObject::tr("Device"), &StatisticRow::device),
                               column(QObject::tr("Difference"), &StatisticRow::difference)},
                              parent);
}

std::vector<StatisticRow> statisticRows(const TensorDigest& digest)
{
    std::vector<StatisticRow> rows;
    const auto add = [&](const QString& name, const auto& of) {
        rows.push_back({name, static_cast<double>(of(digest.reference)),
                        static_cast<double>(of(digest.device)),
                        static_cast<double>(of(digest.difference)),
                        std::is_integral_v<decltype(of(digest.reference))>});
    };
    using S = TensorStatistics;
    add(QObject::tr("least"), [](const S& s) { return s.least; });
    add(QObject::tr("greatest"), [](const S& s) { return s.greatest; });
    add(QObject::tr("mean"), [](const S& s) { return s.mean; });
    add(QObject::tr("zeros"), [](const S& s) { return s.zeros; });
    add(QObject::tr("NaN"), [](const S& s) { return s.nans; });
    add(QObject::tr("infinite"), [](const S& s) { return s.infinite; });
    add(QObject::tr("elements"), [](const S& s) { return s.elements; });
    return rows;
}

} // namespace tenon::views
