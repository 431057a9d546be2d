// SPDX-License-Identifier: GPL-3.0-or-later
// The error that rounding is expected to leave: with the model's facts, on the cards, by kernel.
#include "tests/views/fixtures.h"
#include "views/presenters/inspector_presenter.h"
#include "views/presenters/passes_presenter.h"
#include "views/presenters/workspace_presenter.h"

#include <QTest>

using namespace tenon;
using namespace tenon::views;

class ErrorsTest : public QObject
{
    Q_OBJECT

private:
    /// Two calls whose errors and times differ.
    static std::shared_ptr<Document> compiled(bool isMeasured)
    {
        core::JobContext job;
        const Engine engine = tests::fakeEngine();
        auto document =
            std::make_shared<Document>(**engine.compile(tests::smallDocument(2), {}, job));
        document->expectedError = 2.5e-5;
        document->calls[0].sumError = 1.4e-6;
        document->calls[0].errorShare = 1.5e-5;
        document->calls[1].errorShare = 2e-5;
        document->calls[1].refusedForm = QStringLiteral("tiles of 4 x 4 would be faster, but no");
        if (!isMeasured) return document;
        document->measurement.emplace();
        document->measurement->calls = {{10}, {20}};
        return document;
    }
    struct Bench
    {
        explicit Bench(bool isMeasured)
            : workspace(tests::fakeEngine(), 1)
            , passes(workspace.jobs(), workspace.selection())
            , inspector(workspace.engine(), workspace.jobs(), workspace.selection())
        {
            workspace.takeResult(compiled(isMeasured));
            passes.setDocument(workspace.document(), false);
            inspector.setDocument(workspace.document());
            isReady = QTest::qWaitFor([this] { return passes.state().isReady; }, 10000);
            passes.showVersion(3);
        }
        QStringList figures() const
        {
            QStringList texts;
            for (const SceneItem& item : passes.scene()->items)
                if (!item.figure.isEmpty() && item.isFrame)
                    texts << item.figure +
                                 QStringLiteral(" %1").arg(static_cast<double>(item.heat));
            return texts;
        }
        WorkspacePresenter workspace;
        PassesPresenter passes;
        InspectorPresenter inspector;
        bool isReady = false;
    };
    const QStringList m_errors{QStringLiteral("error 1.5e-05 0.75"),
                               QStringLiteral("error 2.0e-05 1")};

private slots:
    void standOnTheCardsOfAModelThatWasNotMeasured()
    {
        Bench bench(false);
        QVERIFY(bench.isReady);
        QCOMPARE(bench.figures(), m_errors);
        QVERIFY(!bench.passes.canToggleFigure());
        bench.passes.toggleFigure(); // there is nothing else
        QCOMPARE(bench.figures(), m_errors);
        QVERIFY(bench.workspace.state().modelText.contains(
            QStringLiteral("error  2.5e-05 of the largest result")));
    }

    void takeTurnsWithTimes()
    {
        Bench bench(true);
        QVERIFY(bench.isReady);
        const QStringList times{QStringLiteral("10.0 µs 0.5"), QStringLiteral("20.0 µs 1")};
        QCOMPARE(bench.figures(), times);
        QVERIFY(bench.passes.canToggleFigure());
        bench.passes.toggleFigure();
        QCOMPARE(bench.figures(), m_errors);
        bench.passes.toggleFigure();
        QCOMPARE(bench.figures(), times);
    }

    void areToldByTheInspectorWithTheFormThatHadNoRoom()
    {
        Bench bench(false);
        bench.workspace.selection().select(bench.workspace.document()->calls[1].node);
        QStringList facts;
        for (const FactRow& fact : bench.inspector.state().facts) facts << fact.label + fact.value;
        QVERIFY(facts.contains(QStringLiteral("rounding2.0e-05 of the largest result")));
        QVERIFY(facts.contains(QStringLiteral("not takentiles of 4 x 4 would be faster, but no")));
        QCOMPARE(callRows(*bench.workspace.document())[0].errorShare, 1.5e-5);
    }
};

QTEST_GUILESS_MAIN(ErrorsTest)
#include "errors_test.moc"
