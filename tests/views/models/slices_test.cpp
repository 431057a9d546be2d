// SPDX-License-Identifier: GPL-3.0-or-later
// Slices of tensors, and what their values are as a whole.
#include "views/models/tensor_slice.h"

#include <QTest>

#include <cmath>

using namespace tenon;
using namespace tenon::views;

class SlicesTest : public QObject
{
    Q_OBJECT

private:
    /// 0, 1, 2, ... in floats.
    static RealTensor counting(std::vector<int64_t> shape)
    {
        std::vector<float> values;
        for (int64_t i = 0; i < core::elementCount(shape); ++i)
            values.push_back(static_cast<float>(i));
        return {core::Tensor::of<float>(core::kFloat32, std::move(shape), values)};
    }

private slots:
    void goesThroughAnElement()
    {
        const SliceChoice choice = sliceThrough({2, 3, 4, 5}, 2 * 20 + 1 * 5 + 3 + 60);
        QCOMPARE(choice.rowAxis, 2);
        QCOMPARE(choice.columnAxis, 3);
        QCOMPARE(choice.at, (std::vector<int64_t>{1, 2, 1, 3}));
        QCOMPARE(sliceThrough({7}, 3).rowAxis, -1);
        QCOMPARE(sliceThrough({}, -1).columnAxis, -1);
    }

    void cutsAnyTwoAxes()
    {
        const RealTensor tensor = counting({2, 3, 4});
        SliceChoice choice{1, 2, {1, 0, 0}};
        Raster raster = sliceOf(tensor, choice);
        QCOMPARE(raster.rows, 3);
        QCOMPARE(raster.columns, 4);
        QCOMPARE(raster.at(2, 3), 23.0);
        QCOMPARE(elementOf({2, 3, 4}, choice, raster, 2, 3), 23);
        choice = {2, 0, {0, 2, 0}};
        raster = sliceOf(tensor, choice);
        QCOMPARE(raster.rows, 4);
        QCOMPARE(raster.columns, 2);
        QCOMPARE(raster.at(1, 1), 12.0 + 8 + 1);
        const Raster line = sliceOf(counting({6}), {-1, 0, {0}});
        QCOMPARE(line.rows, 1);
        QCOMPARE(line.at(0, 5), 5.0);
        const Raster scalar = sliceOf(counting({}), {-1, -1, {}});
        QCOMPARE(scalar.rows, 1);
        QCOMPARE(scalar.columns, 1);
        QCOMPARE(sliceOf(counting({0, 4}), {0, 1, {0, 0}}).rows, 0);
    }

    /// A cell of a large slice has what is furthest from zero, and NaN before all.
    void foldsLargeSlices()
    {
        std::vector<float> values(1000, 0);
        values[2] = -5;
        values[999] = NAN;
        const RealTensor tensor{core::Tensor::of<float>(core::kFloat32, {1000}, values)};
        const Raster raster = sliceOf(tensor, {-1, 0, {0}});
        QCOMPARE(raster.elementsPerColumn, 3);
        QCOMPARE(raster.columns, 334);
        QCOMPARE(raster.at(0, 0), -5.0);
        QVERIFY(std::isnan(raster.at(0, 333)));
    }

    void readsIntegersAsWhatTheyStandFor()
    {
        const auto tensor =
            core::Tensor::of<int8_t>(core::kInt8, {1, 2, 2}, std::vector<int8_t>{1, 2, 3, 4});
        const RealTensor one{tensor, {{0.5}, {1}, 0}};
        QCOMPARE(one.at(3), 1.5);
        const RealTensor many{tensor, {{0.5, 2}, {0, 1}, 1}};
        QCOMPARE(many.at(1), 1.0);
        QCOMPARE(many.at(2), 4.0);
        QVERIFY(!unitsOfSide(many.units, counting({2}).tensor).isQuantized());
        QVERIFY(unitsOfSide(many.units, tensor).isQuantized());
    }

    void countsWhatIsThere()
    {
        const auto reference =
            core::Tensor::of<float>(core::kFloat32, {4}, std::vector<float>{0, 1, 2, 3});
        const auto device =
            core::Tensor::of<float>(core::kFloat32, {4}, std::vector<float>{0, 1, 4, NAN});
        const TensorDigest digest = digestOf({reference}, {device}, [] { return false; });
        QCOMPARE(digest.reference.mean, 1.5);
        QCOMPARE(digest.reference.zeros, 1);
        QCOMPARE(digest.device.nans, 1);
        QCOMPARE(digest.device.greatest, 4.0);
        QCOMPARE(digest.difference.greatest, 2.0);
        QCOMPARE(digest.difference.nans, 1);
        QCOMPARE(digest.histogram.least, 0.0);
        QCOMPARE(digest.histogram.greatest, 4.0);
        const auto sum = [](const std::vector<int64_t>& bins) {
            int64_t all = 0;
            for (const int64_t bin : bins) all += bin;
            return all;
        };
        QCOMPARE(sum(digest.histogram.reference), 4);
        QCOMPARE(sum(digest.histogram.device), 3); // NaN is in no bin
        QCOMPARE(digest.histogram.device.back(), 1);
        const auto rows = statisticRows(digest);
        QCOMPARE(rows[2].name, QStringLiteral("mean"));
        QCOMPARE(rows[2].reference, 1.5);
    }
};

QTEST_GUILESS_MAIN(SlicesTest)
#include "slices_test.moc"
