// SPDX-License-Identifier: GPL-3.0-or-later
// The report: one page with the numbers of the window, and names out of files as mere text.
#include "tests/views/comparisons.h"
#include "tests/views/fixtures.h"
#include "views/models/format.h"
#include "views/models/memory_rows.h"
#include "views/models/report.h"
#include "views/models/tables.h"

#include <QTest>

using namespace tenon;
using namespace tenon::views;

class ReportTest : public QObject
{
    Q_OBJECT

private:
    static std::shared_ptr<Document> compiled()
    {
        core::JobContext job;
        const Engine engine = tests::fakeEngine();
        auto built = engine.compile(tests::smallDocument(2), {}, job);
        auto document = std::make_shared<Document>(**built);
        Measurement m;
        m.board = QStringLiteral("pi");
        m.runs = 40;
        m.medianUs = 1234;
        m.highUs = m.medianUs + 5;
        m.isEmulated = true;
        for (size_t i = 0; i < document->calls.size(); ++i)
            m.calls.push_back({static_cast<double>(100 + i)});
        document->measurement = m;
        document->expectedError = 1.7e-5;
        document->calls[0].sumError = 1.4e-6;
        document->calls[0].errorShare = 1.6e-5;
        document->calls[0].refusedForm = QStringLiteral("tiles of 4 x 4 would be faster, but");
        return document;
    }

private slots:
    void holdsTheNumbersOfTheWindow()
    {
        const auto document = compiled();
        const QString html = reportHtml(*document, {QStringLiteral("Tenon 1"),
                                                    QStringLiteral("2030-01-02 03:04"),
                                                    "<svg id=\"g\"></svg>",
                                                    {},
                                                    {},
                                                    {}});
        const auto has = [&](const QString& text) {
            return html.contains(QStringLiteral(">%1<").arg(text.toHtmlEscaped()));
        };
        QVERIFY(html.startsWith(QStringLiteral("<!DOCTYPE html>")));
        QVERIFY(html.contains(QStringLiteral("<svg id=\"g\">")));
        QVERIFY(has(QStringLiteral("1.23 ms ± 5.00 µs")));
        QVERIFY(html.contains(QStringLiteral("emulated")));
        for (const CallRow& row : callRows(*document)) QVERIFY(has(durationText(row.medianUs)));
        for (const BufferRow& row : bufferRows(*document, *document->memory))
            QVERIFY2(has(row.type), qPrintable(row.type));
        for (const PassStep& step : document->passes) QVERIFY(has(step.name));
        QVERIFY(has(QStringLiteral("1.7e-05"))); // the tile
        QVERIFY(html.contains(QStringLiteral("1.7e-05 of the largest result expected")));
        QVERIFY(has(QStringLiteral("1.6e-05"))); // its call
        QVERIFY(html.contains(byteText(document->memory->arenaBytes)));
        QVERIFY(!html.contains(QStringLiteral("http"))); // nothing is loaded from elsewhere
        QVERIFY(!html.contains(QStringLiteral("<script")));
    }

    void tellsWhatTheComparePageFound()
    {
        const auto document = tests::smallDocument(2);
        const core::Comparison found = tests::smallComparison(true);
        const std::unique_ptr<CompareModel> tensors(makeCompareModel(nullptr));
        tensors->setRows(compareRows(found, *document));
        ReportParts parts;
        parts.comparison = {QStringLiteral("pi against level 0"), verdictOf(found),
                            QStringLiteral("one tensor is\nnot compared"), tensors.get()};
        const QString html = reportHtml(*document, parts);
        const auto has = [&](const QString& text) {
            return html.contains(QStringLiteral(">%1<").arg(text.toHtmlEscaped()));
        };
        QVERIFY(has(QStringLiteral("pi against level 0")));
        QVERIFY(has(verdictOf(found).title));
        QVERIFY(html.contains(QStringLiteral("class=\"error\"")));
        QVERIFY(has(QStringLiteral("not compared")));
        for (const CompareRow& row : tensors->rows()) {
            QVERIFY(has(row.name));
            QVERIFY(has(verdictText(row)));
        }
    }

    void showsNamesAsText()
    {
        auto document = std::make_shared<Document>(*tests::smallDocument(1));
        document->name = QStringLiteral("<script>alert(1)</script>.onnx");
        document->issues.push_back(core::makeError(core::DiagnosticCode::BadModel,
                                                   "node `<img src=x>` & its operands are bad"));
        const QString html = reportHtml(*document, {});
        QVERIFY(!html.contains(QStringLiteral("<script>")));
        QVERIFY(!html.contains(QStringLiteral("<img")));
        QVERIFY(html.contains(QStringLiteral("&lt;img src=x&gt;")));
    }

    void saysWhyTheGraphIsMissing()
    {
        ReportParts parts;
        parts.graphMissing = QStringLiteral("too large");
        const QString html = reportHtml(*tests::smallDocument(1), parts);
        QVERIFY(html.contains(QStringLiteral("too large")));
        QVERIFY(!html.contains(QStringLiteral("Kernel calls"))); // nothing was compiled
    }
};

QTEST_GUILESS_MAIN(ReportTest)
#include "report_test.moc"
