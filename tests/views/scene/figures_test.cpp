// SPDX-License-Identifier: GPL-3.0-or-later
// Figures of cards, frames and groups, and what they are coloured by.
#include "tests/views/comparisons.h"
#include "tests/views/fixtures.h"
#include "views/scene/stage.h"

#include <QTest>

using namespace tenon;
using namespace tenon::views;

class FiguresTest : public QObject
{
    Q_OBJECT

private:
    /// 10 and 20 µs, half of it the least possible.
    static DocumentPtr measured(int blocks)
    {
        core::JobContext job;
        auto document = std::make_shared<Document>(
            **tests::fakeEngine().compile(tests::smallDocument(blocks), {}, job));
        document->measurement.emplace();
        for (int i = 0; i < blocks; ++i)
            document->measurement->calls.push_back({10.0 * (i + 1), 5.0 * (i + 1)});
        return document;
    }

private slots:
    /// Each kernel's time is on all that it computes, and what is shown adds up to what was
    /// measured.
    void splitsTheTimeOfAKernelAmongItsNodes()
    {
        const auto document = measured(2);
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(document));
        QVERIFY(stage.arrange());
        for (size_t version = 0; version < document->versionCount(); ++version) {
            const Scene scene = stage.scene(version, DiffMode::After);
            double cards = 0, frames = 0;
            for (const SceneItem& item : scene.items) {
                if (item.heat < 0) continue;
                const double us =
                    static_cast<double>(item.heat) * static_cast<double>(scene.largest);
                (item.isFrame ? frames : cards) += us;
                QCOMPARE(item.isEstimated, !item.isFrame);
                QCOMPARE(item.figure.startsWith(QStringLiteral("≈")), item.isEstimated);
            }
            QVERIFY(std::abs(cards - 30) < 1e-3);
            QCOMPARE(frames > 0, version == 3);
        }
        const Scene fused = stage.scene(3, DiffMode::After);
        int members = 0;
        for (const SceneItem& item : fused.items)
            members += item.isMember && !item.figure.isEmpty();
        QCOMPARE(members, 8); // all of both kernels
    }

    /// It does not divide.
    void putsTheErrorOfAKernelOnItsHeaviestNode()
    {
        auto document = std::make_shared<Document>(*measured(2));
        for (KernelCall& call : document->calls) call.errorShare = 1e-6;
        for (const core::NodeId id : document->imported.main().order)
            if (document->imported.node(id).op == "nn.conv2d") document->macs[id] = 1000000;
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(document));
        QVERIFY(stage.arrange());
        for (const size_t version : {size_t{0}, size_t{3}}) {
            int shown = 0;
            for (const SceneItem& item :
                 stage.scene(version, DiffMode::After, CardFigure::Error).items) {
                if (item.figure.isEmpty()) continue;
                ++shown;
                QVERIFY(!item.isEstimated);
                QVERIFY(version == 3 ? item.isFrame
                                     : item.title.contains(QStringLiteral("conv2d")));
            }
            QCOMPARE(shown, 2);
        }
    }

    void sumsUpTheFiguresOfGroups()
    {
        const auto document = measured(2);
        const auto places = std::make_shared<const Storyboard>(document);
        Stage stage = Stage::forScopes(places, 0, {});
        QVERIFY(stage.arrange());
        QStringList sums;
        for (const SceneItem& item : stage.scene(0, DiffMode::After).items)
            if (item.isScope) sums << item.figure;
        QCOMPARE(sums, QStringList({"10.0 µs", "20.0 µs"})); // whole kernels: not estimated
    }

    void coloursByWhatADocumentHas()
    {
        const auto plain = tests::smallDocument(2);
        QCOMPARE(colourings(*plain).size(), size_t{2}); // type, bytes
        const auto document = measured(2);
        const std::vector<CardLooks> all = colourings(*document);
        QCOMPARE(all.size(), size_t{4}); // type, time, bytes, share of the bound
        CardLooks looks;
        for (size_t i = 0; i < all.size(); ++i) looks = nextColouring(*document, looks);
        QVERIFY(!looks.isColoured); // round
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(document));
        QVERIFY(stage.arrange());
        const Scene bound = stage.scene(3, DiffMode::After, {CardFigure::Bound, true});
        for (const SceneItem& item : bound.items) {
            if (!item.isFrame) continue;
            QCOMPARE(item.figure, QStringLiteral("50 %"));
            QCOMPARE(item.heat, 0.5f);
        }
        const Scene bytes = stage.scene(0, DiffMode::After, {CardFigure::Bytes, true});
        const SceneItem& conv = bytes.items[1];
        QCOMPARE(conv.figure, QStringLiteral("16.0 KiB")); // 8 x 16 x 16 floats in and out
    }

    /// 100 dB in the first block, 12 dB in the second: bright is bad.
    void coloursByTheErrorsOfAComparison()
    {
        auto document = std::make_shared<Document>(*tests::smallDocument(2));
        const CardLooks looks(CardFigure::CumulativeError, true);
        Stage none = Stage::forPasses(std::make_shared<const Storyboard>(document));
        QVERIFY(none.arrange());
        QVERIFY(!none.scene(0, DiffMode::After, looks).looks.isColoured); // nothing to show
        document->comparison =
            std::make_shared<const core::Comparison>(tests::smallComparison(true));
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(document));
        QVERIFY(stage.arrange());
        const Scene scene = stage.scene(0, DiffMode::After, looks);
        QCOMPARE(scene.least, 100.0f);  // dB, dark
        QCOMPARE(scene.largest, 10.0f); // dB, bright
        int shown = 0;
        for (const SceneItem& item : scene.items) {
            if (item.figure.isEmpty()) continue;
            ++shown;
            const bool isSecond = item.name.startsWith(QStringLiteral("block1"));
            QCOMPARE(item.heat, isSecond ? 88.0f / 90 : 0.0f);
            const bool isResult = item.name.endsWith(QStringLiteral("Relu"));
            QCOMPARE(item.isEstimated, !isResult); // in no memory of the program
            const QString text = isSecond ? QStringLiteral("12.0 dB") : QStringLiteral("100.0 dB");
            QCOMPARE(item.figure, isResult ? text : QStringLiteral("(%1)").arg(text));
            QCOMPARE(item.figureNote.contains(QStringLiteral("the kernel itself is off")),
                     isSecond);
        }
        QCOMPARE(shown, 6);
    }

    void repeatsTheErrorOfAKernelInsideAndTheWorstOutside()
    {
        auto document = std::make_shared<Document>(*tests::smallDocument(2));
        document->comparison =
            std::make_shared<const core::Comparison>(tests::smallComparison(true));
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(document));
        QVERIFY(stage.arrange());
        const CardLooks looks(CardFigure::CumulativeError, true);
        int members = 0, results = 0;
        for (const SceneItem& item : stage.scene(3, DiffMode::After, looks).items) {
            members += item.isMember && item.heat >= 0;
            results += item.isMember && item.heat >= 0 && !item.isEstimated;
        }
        QCOMPARE(members, 8); // of both kernels
        QCOMPARE(results, 2);
        // Groups have the worst that is inside.
        const auto places = std::make_shared<const Storyboard>(document);
        const Stage open = Stage::forScopes(places, 0, {});
        std::set<QString> paths;
        for (const NameScope& scope : open.scopes()) paths.insert(scope.path);
        Stage groups = Stage::forScopes(places, 0, paths);
        QVERIFY(groups.arrange());
        QStringList worst;
        for (const SceneItem& item :
             groups.scene(0, DiffMode::After, {CardFigure::IsolatedError, true}).items)
            if (item.isScope) worst << item.figure;
        QCOMPARE(worst, QStringList({"110.0 dB", "11.0 dB"}));
    }
};

QTEST_GUILESS_MAIN(FiguresTest)
#include "figures_test.moc"
