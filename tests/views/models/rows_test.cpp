// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of tables in the order of a column, and as text for other programs.
#include "tests/views/fixtures.h"
#include "views/models/line_breaks.h"
#include "views/models/memory_rows.h"
#include "views/models/pass_model.h"
#include "views/models/precision_mix.h"
#include "views/models/round_steps.h"
#include "views/models/rows_text.h"
#include "views/models/short_name.h"
#include "views/models/sorted_rows.h"
#include "views/models/tables.h"

#include <QTest>

#include <memory>

using namespace tenon;
using namespace tenon::views;

class RowsTest : public QObject
{
    Q_OBJECT

private:
    struct Row
    {
        QString name;
        double us;
    };
    using Model = TableModel<Row>;
    static std::unique_ptr<Model> model(std::vector<Row> rows)
    {
        auto made = std::make_unique<Model>(std::vector<TableColumn<Row>>{
            {QStringLiteral("Name"), [](const Row& r) { return r.name; }},
            {QStringLiteral("Time"),
             [](const Row& r) {
                 return r.us < 0 ? QStringLiteral("–") : QStringLiteral("~%1 µs").arg(r.us);
             },
             true,
             {},
             [](const Row& r) { return r.us < 0 ? QVariant() : QVariant(r.us); },
             QStringLiteral("µs")}});
        made->setRows(std::move(rows));
        return made;
    }
    static QStringList names(const QAbstractItemModel& rows)
    {
        QStringList shown;
        for (int i = 0; i < rows.rowCount(); ++i) shown << rows.index(i, 0).data().toString();
        return shown;
    }

private slots:
    void ticksOfAxesAreRound()
    {
        using Ticks = std::vector<double>;
        QCOMPARE(roundTicks(0, 429, 5, StepKind::Decimal), (Ticks{0, 100, 200, 300, 400}));
        QCOMPARE(roundTicks(0, 0.000429, 5, StepKind::Decimal).size(), size_t{5});
        QCOMPARE(roundTicks(53.5 * 1024, 115 * 1024, 4, StepKind::Binary),
                 (Ticks{64 * 1024, 80 * 1024, 96 * 1024, 112 * 1024}));
        QCOMPARE(roundTicks(7, 7, 4, StepKind::Decimal), Ticks());
        QCOMPARE(roundStep(1000), 1000.0);
        QCOMPARE(roundStep(1001), 2000.0);
        QCOMPARE(roundStep(0.3, StepKind::Binary), 1.0);
    }
    void lossesAreWrittenWithoutExponents()
    {
        QCOMPARE(lossText(0.00000011), QStringLiteral("0.000011 %"));
        QCOMPARE(lossText(0.0000101), QStringLiteral("0.0010 %"));
        QCOMPARE(lossText(0.25), QStringLiteral("25.00 %"));
        QCOMPARE(lossText(0), QStringLiteral("0 %"));
        QCOMPARE(plainPercentText(0.0003), QStringLiteral("0.03 %"));
        QCOMPARE(plainPercentText(0), QStringLiteral("0 %"));
        QCOMPARE(plainPercentText(0.2), QStringLiteral("20 %"));
    }
    void ordersNumbersByValueAndNamesByTheNumbersInThem()
    {
        const auto rows = model({{QStringLiteral("conv10"), 9},
                                 {QStringLiteral("conv2"), 100},
                                 {QStringLiteral("Add"), -1}});
        SortedRows sorted(rows.get());
        QCOMPARE(names(sorted), QStringList({"conv10", "conv2", "Add"}));
        sorted.sort(0, Qt::AscendingOrder);
        QCOMPARE(names(sorted), QStringList({"Add", "conv2", "conv10"}));
        sorted.sort(1, Qt::DescendingOrder); // "9" is no more than "100"
        QCOMPARE(names(sorted), QStringList({"conv2", "conv10", "Add"}));
        sorted.sort(1, Qt::AscendingOrder); // what is not known comes last both ways
        QCOMPARE(names(sorted), QStringList({"conv10", "conv2", "Add"}));
        sorted.sort(-1, Qt::AscendingOrder);
        QCOMPARE(names(sorted), QStringList({"conv10", "conv2", "Add"}));
        QVERIFY(comesBefore(QStringLiteral("a9b"), QStringLiteral("a10a")));
        QVERIFY(!comesBefore(QStringLiteral("a"), QStringLiteral("A")));
        QVERIFY(!comesBefore(QStringLiteral("A"), QStringLiteral("a")));
    }

    void writesPlainNumbersWithTheirUnitAndQuotesWhatNeedsIt()
    {
        const auto rows =
            model({{QStringLiteral("a, \"b\"\nc"), 1234.5}, {QStringLiteral("d"), -1}});
        QCOMPARE(csvText(*rows),
                 QStringLiteral("Name,Time [µs]\n\"a, \"\"b\"\"\nc\",1234.5\nd,–\n"));
        QCOMPARE(tabbedRows({rows->index(0, 0), rows->index(1, 0)}),
                 QStringLiteral("a, \"b\" c\t~1234.5 µs\nd\t–"));
    }

    void writesThePassesOfTheTreeWithPhaseAndChanges()
    {
        PassModel passes;
        passes.setDocument(tests::smallDocument(2));
        const QStringList lines = csvText(passes).split(QLatin1Char('\n'));
        QCOMPARE(lines[0], QStringLiteral("Pass,Phase,Changes,Time [ms],Largest difference"));
        QCOMPARE(lines[3], QStringLiteral("FuseOps,fuse,2,0.4,"));
        QCOMPARE(lines.size(), 5); // with the empty one behind the last
    }

    void shortensNamesToWhatTellsThemApart()
    {
        const QChar dots(0x2026);
        const auto elide = [&](const QString& text, Qt::TextElideMode mode) {
            constexpr qsizetype kRoom = 20;
            if (text.size() <= kRoom) return text;
            return mode == Qt::ElideMiddle ? text.left(10) + dots + text.right(9)
                                           : text.left(kRoom - 1) + dots;
        };
        const QString first = QStringLiteral("/features/block1/pointwise/act/Relu");
        const QString second = QStringLiteral("/features/block2/pointwise/act/Relu");
        QCOMPARE(shortName(first, {first}, elide), QStringLiteral("/features/…/act/Relu"));
        QCOMPARE(shortName(first, {second}, elide), QStringLiteral("…block1/pointwise/a…"));
        QCOMPARE(shortName(second, {first}, elide), QStringLiteral("…block2/pointwise/a…"));
        const QString conv = QStringLiteral("conv 3x3 + relu · features.0.act");
        QCOMPARE(shortName(conv, {QStringLiteral("add")}, elide),
                 QStringLiteral("conv 3x3 + relu · f…"));
        QCOMPARE(shortName(conv, {QStringLiteral("conv 3x3 + relu · features.11.act")}, elide),
                 QStringLiteral("conv 3x3… · …0.act"));
        QCOMPARE(shortName(QStringLiteral("conv 1x1 int8 · functional_1/conv2d_1"),
                           {QStringLiteral("conv 1x1 int8 · functional_1/conv2d_2")}, elide),
                 QStringLiteral("conv… · …conv2d_1"));
        const QString query = QStringLiteral("model.layers.11.attention.self.query.MatMul");
        QCOMPARE(shortName(query,
                           {QStringLiteral("model.layers.12.attention.self.query.MatMul"),
                            QStringLiteral("model.layers.11.attention.self.value.MatMul")},
                           elide),
                 QStringLiteral("…11.…query.MatMul"));
        QCOMPARE(shortName(QStringLiteral("short"), {first}, elide), QStringLiteral("short"));
    }

    void breaksLongWordsAtTheirParts()
    {
        const QChar gap(0x200b);
        const QString kernel = QStringLiteral("fused_nn_contrib_conv2d_NCHWc_add_clip_ff10941c_1");
        const QString broken = withBreaks(kernel);
        QVERIFY(broken.contains(QStringLiteral("_") + gap + QStringLiteral("contrib")));
        for (const QString& part : broken.split(gap)) QVERIFY2(part.size() <= 12, qPrintable(part));
        QCOMPARE(withoutBreaks(broken), kernel);
        const QString plain = QStringLiteral("short words, in a sentence that is long");
        QCOMPARE(withBreaks(plain), plain);
        QCOMPARE(withBreaks(QString()), QString());
        // Letters of two units, and marks above them, stay whole.
        const QString signs = QString::fromUcs4(U"\U0001F600").repeated(20);
        for (const QString& part : withBreaks(signs).split(gap)) {
            QCOMPARE(part.size() % 2, 0);
            QVERIFY(part.size() <= 12);
        }
    }

    void keepsNumbersWithTheirUnits()
    {
        const QChar tie(0x00a0), join(0x2060);
        const QString text = QStringLiteral("20.4 ms ± 344 µs, n = 166, 277 Gop/s of it");
        const QString kept = withBreaks(text);
        QCOMPARE(
            kept.split(QLatin1Char(' ')),
            (QStringList{
                QStringLiteral("20.4") + tie + QStringLiteral("ms"),
                QStringLiteral("±") + tie + QStringLiteral("344") + tie + QStringLiteral("µs,"),
                QStringLiteral("n") + tie + QStringLiteral("=") + tie + QStringLiteral("166,"),
                QStringLiteral("277") + tie + QStringLiteral("Gop/") + join + QStringLiteral("s"),
                QStringLiteral("of"), QStringLiteral("it")}));
        QCOMPARE(withoutBreaks(kept), text);
        const QString lines = QStringLiteral("1\nms and 3 samples");
        QCOMPARE(withBreaks(lines), lines);
    }

    void namesTheNodesOfEveryStepOfTheLiveCurve()
    {
        const views::Engine engine = tests::fakeEngine();
        core::JobContext job;
        const auto compiled = engine.compile(tests::smallDocument(2), {}, job);
        QVERIFY(compiled);
        const Document& document = **compiled;
        const std::vector<LiveRow> rows = liveRows(document, liveCurve(*document.memory));
        QCOMPARE(rows.size(), document.memory->liveBytes.size());
        QVERIFY(rows[0].sources.contains(QStringLiteral("block0.Conv")));
        QCOMPARE(rows[1].bytes, qint64{1124});
        QCOMPARE(rows[1].share, 1.0);
        QCOMPARE(rows[2].name, QStringLiteral("after the last call"));
    }
};

QTEST_GUILESS_MAIN(RowsTest)
#include "rows_test.moc"
