// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels have names for people on every page; symbols stand in tooltips and in the inspector.
// Titles of columns are never cut.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "views/models/table_model.h"
#include "views/pages/common/data_table.h"

#include <QAbstractItemView>
#include <QHeaderView>
#include <QLabel>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

namespace {

/// All that views of tables and lists show, and all labels.
QStringList shownTexts(const QWidget& widget)
{
    QStringList texts;
    for (const auto* view : widget.findChildren<QAbstractItemView*>())
        for (int row = 0; view->model() && row < view->model()->rowCount(); ++row)
            for (int column = 0; column < view->model()->columnCount(); ++column)
                texts << view->model()->index(row, column).data().toString();
    for (const auto* label : widget.findChildren<QLabel*>()) texts << label->text();
    return texts;
}

bool settles(MainWindow& window)
{
    return QTest::qWaitFor([&] { return window.isSettled(); }, 120000);
}

bool opensSample(MainWindow& window)
{
    window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
    return settles(window);
}

bool compilesSample(MainWindow& window)
{
    if (!opensSample(window)) return false;
    window.workspace().compile();
    return settles(window);
}

} // namespace

class TitlesTest : public QObject
{
    Q_OBJECT

private slots:
    void namesKernelsForPeopleOnEveryPage()
    {
        MainWindow window(makeEngine({}), {}, {true, false, {}, 1});
        window.resize(1366, 768);
        window.show();
        QVERIFY(compilesSample(window));
        const views::DocumentPtr document = window.workspace().document();
        QVERIFY(document->isCompiled());
        window.passes().showVersion(static_cast<int>(document->versionCount()) - 1);
        for (const views::Page& page : window.pages()) {
            window.showPerspective(page.name);
            QStringList texts = shownTexts(*page.widget);
            if (page.canvas)
                for (const views::SceneItem& item : page.canvas->scene().items)
                    texts << item.title << item.detail << item.spoken;
            for (const QString& text : texts)
                for (const auto& [key, kernel] : document->kernels)
                    QVERIFY2(!text.contains(key) && !text.contains(kernel.symbol),
                             qPrintable(page.name + QStringLiteral(": ") + text));
        }
    }

    void keepsTheSymbolForThoseWhoLookForIt()
    {
        MainWindow window(makeEngine({}), {}, {true, false, {}, 1});
        QVERIFY(compilesSample(window));
        const views::DocumentPtr document = window.workspace().document();
        const views::KernelCall& call = document->calls.front();
        const QString symbol = document->kernels.at(call.kernel).symbol;
        const QAbstractItemModel& rows = window.workspace().calls();
        QVERIFY(rows.index(0, 1).data().toString().startsWith(QStringLiteral("conv 3x3")));
        QVERIFY(rows.index(0, 1).data(Qt::ToolTipRole).toString().contains(symbol));
        window.workspace().selection().select(call.node);
        const auto& facts = window.inspector().state().facts;
        QVERIFY(std::any_of(facts.begin(), facts.end(), [&](const views::FactRow& fact) {
            return fact.label == QLatin1String("symbol") && fact.value.contains(symbol);
        }));
    }

    /// However narrow a column is asked to be.
    void showsTitlesOfColumnsWhole()
    {
        MainWindow window(makeEngine({}), {}, {true, false, {}, 1});
        window.resize(1600, 1000);
        window.show();
        QVERIFY(opensSample(window));
        for (const views::Page& page : window.pages()) {
            QVERIFY(window.showPerspective(page.name));
            QVERIFY(!window.grab().isNull());
        }
        for (const auto* table : window.findChildren<views::DataTable*>()) {
            const QHeaderView& titles = *table->horizontalHeader();
            for (int column = 0; column < titles.count(); ++column) {
                const bool isFixed = titles.sectionResizeMode(column) == QHeaderView::Interactive &&
                                     !titles.isSectionHidden(column) && column + 1 < titles.count();
                const QString title = table->model()->headerData(column, Qt::Horizontal).toString();
                if (isFixed)
                    QVERIFY2(titles.sectionSize(column) >=
                                 titles.fontMetrics().horizontalAdvance(title) + 8,
                             qPrintable(title));
            }
        }
    }

    /// Columns that share what the others leave, in a small window.
    void givesColumnsThatShareRoomTheirTitles()
    {
        MainWindow window(makeEngine({}), {}, {true, false, {}, 1});
        window.resize(980, 620);
        window.show();
        QVERIFY(compilesSample(window));
        QVERIFY(window.showPerspective(QStringLiteral("executors")));
        QVERIFY(!window.grab().isNull());
        const QHeaderView* titles = nullptr;
        for (const auto* table : window.findChildren<views::DataTable*>())
            if (table->model()->headerData(0, Qt::Horizontal) == QStringLiteral("Memory"))
                titles = table->horizontalHeader();
        QVERIFY(titles);
        QCOMPARE(titles->count(), 6);
        int wide = 0;
        for (int column = 0; column < titles->count(); ++column) {
            const int least = titles->sectionSizeHint(column);
            QVERIFY2(titles->sectionSize(column) >= least,
                     qPrintable(titles->model()->headerData(column, Qt::Horizontal).toString()));
            wide += titles->sectionSize(column);
        }
        QCOMPARE(wide, titles->viewport()->width());
    }
};

QTEST_MAIN(TitlesTest)
#include <algorithm>

#include "titles_test.moc"
