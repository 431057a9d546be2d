// SPDX-License-Identifier: GPL-3.0-or-later
// Tables, lists, charts and graphs of the window: all can be copied, written to files and left for
// another page, and every table can be sorted.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "views/charts/chart.h"
#include "views/pages/benchmark/benchmark_page.h"
#include "views/pages/compare/compare_page.h"
#include "views/pages/executors/executors_page.h"
#include "views/pages/inspect/inspect_page.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/passes/passes_page.h"

#include <QClipboard>
#include <QHeaderView>
#include <QImageReader>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

namespace {

QString textOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QAction* actionOf(const QMenu& menu, const QString& text)
{
    for (QAction* action : menu.actions())
        if (action->text() == text) return action;
    return nullptr;
}

} // namespace

class ExhibitsTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;

    QString file(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    bool settle() const
    {
        return QTest::qWaitFor([&] { return m_window->isSettled(); }, 120000);
    }
    /// All tables and lists but those that only choose something, and all charts.
    std::vector<QWidget*> shownThings() const
    {
        std::vector<QWidget*> things;
        for (auto* table : m_window->findChildren<views::DataTable*>()) things.push_back(table);
        for (const views::Page& page : m_window->pages()) {
            for (auto* view : page.widget->findChildren<QAbstractItemView*>())
                if (!qobject_cast<views::DataTable*>(view) && !qobject_cast<QHeaderView*>(view))
                    things.push_back(view);
            for (auto* chart : page.widget->findChildren<views::Chart*>()) things.push_back(chart);
            for (auto* chart : page.widget->findChildren<views::StackChart*>())
                things.push_back(chart);
            for (auto* chart : page.widget->findChildren<views::RunChart*>())
                things.push_back(chart);
            for (auto* chart : page.widget->findChildren<views::HeatMap*>())
                things.push_back(chart);
            for (auto* chart : page.widget->findChildren<views::ValueChart*>())
                things.push_back(chart);
            if (page.canvas) things.push_back(page.canvas);
        }
        return things;
    }

private slots:
    void initTestCase()
    {
        WindowOptions options{true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1};
        options.askForFile = [this](QWidget*, const views::FileQuestion& question,
                                    const views::TakeFile& take) {
            take(m_folder.filePath(QFileInfo(question.start).fileName()));
        };
        m_window = std::make_unique<MainWindow>(makeEngine({}), Settings(), options);
        m_window->resize(1366, 768);
        m_window->show();
        m_window->openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle());
    }
    void cleanupTestCase() { m_window.reset(); }

    /// Before anything is compiled: the plan needs no code.
    void plansMemoryWithoutCompiling()
    {
        m_window->showPerspective(QStringLiteral("memory"));
        QVERIFY(settle());
        QVERIFY(!m_window->workspace().document()->isCompiled());
        QVERIFY(m_window->memory().state().hasPlan);
        // The plan stays that of its target when another one is named.
        views::WorkspacePresenter& workspace = m_window->workspace();
        const QString target = workspace.document()->target;
        workspace.setTarget(QStringLiteral("c -mcpu=cortex-m4"));
        QVERIFY(!target.isEmpty() && settle());
        QVERIFY(m_window->memory().state().curveCaption.startsWith(
            QStringLiteral("not compiled yet, as for %1 · ").arg(target)));
        workspace.setTarget(target);
        const views::MemoryPlan planned = m_window->memory().plan();
        m_window->memory().selectBuffer(0);
        QVERIFY(m_window->workspace().selection().node().isValid());
        m_window->memory().setAlignment(4096); // what-ifs work, too
        QVERIFY(settle());
        QVERIFY(m_window->memory().state().isWhatIf);
        m_window->memory().dropWhatIf();
        QVERIFY(settle());
        m_window->workspace().compile();
        QVERIFY(settle());
        const views::MemoryPlan compiled = m_window->memory().plan();
        QCOMPARE(planned.arenaBytes, compiled.arenaBytes);
        QCOMPARE(planned.liveBytes, compiled.liveBytes);
        QVERIFY(
            !m_window->memory().state().curveCaption.contains(QStringLiteral("not compiled yet")));
    }

    void letsEveryTableAndChartBeTakenAway()
    {
        for (QWidget* thing : shownThings()) {
            const QString what = QString::fromLatin1(thing->metaObject()->className()) +
                                 QLatin1Char(' ') + thing->accessibleName();
            views::Exhibit* exhibit = views::Exhibit::of(*thing);
            QVERIFY2(exhibit, qPrintable(what));
            QVERIFY2(!thing->accessibleName().isEmpty(), qPrintable(what));
            QVERIFY2(exhibit->hasRows(), qPrintable(what));
            QVERIFY2(!exhibit->csv().isEmpty(), qPrintable(what));
            const auto written = exhibit->write(file("picture.png"));
            QVERIFY2(written, qPrintable(what));
            QVERIFY2(!QImageReader(file("picture.png")).read().isNull(), qPrintable(what));
            std::unique_ptr<QMenu> menu(exhibit->makeMenu(thing->rect().center()));
            QVERIFY2(actionOf(*menu, QStringLiteral("Export as CSV…")), qPrintable(what));
            QVERIFY2(actionOf(*menu, QStringLiteral("Export as a picture…")), qPrintable(what));
        }
    }

    void sortsAnyTableByAnyColumn()
    {
        for (auto* table : m_window->findChildren<views::DataTable*>()) {
            for (int column = 0; column < table->model()->columnCount(); ++column) {
                table->sortByColumn(column, Qt::AscendingOrder);
                for (int row = 1; row < table->model()->rowCount(); ++row) {
                    const QVariant a = table->model()->index(row - 1, column).data(views::SortRole);
                    const QVariant b = table->model()->index(row, column).data(views::SortRole);
                    const bool isText = a.typeId() == QMetaType::QString;
                    QVERIFY(!b.isValid() ||
                            (isText ? !views::comesBefore(b.toString(), a.toString())
                                    : a.toDouble() <= b.toDouble()));
                }
            }
            table->sortByColumn(-1, Qt::AscendingOrder);
        }
    }

    /// By a click on the title; what a row leads to stays its own.
    void leadsToTheBufferOfTheRowWhateverItIsSortedBy()
    {
        m_window->showPerspective(QStringLiteral("memory"));
        auto& page = m_window->part<views::MemoryPage>();
        page.showTab(1);
        views::DataTable& table = page.table();
        constexpr int kBytes = 5;
        QHeaderView& titles = *table.horizontalHeader();
        QTest::mouseClick(titles.viewport(), Qt::LeftButton, {},
                          QPoint(titles.sectionViewportPosition(kBytes) + 10, 8));
        const auto& rows = m_window->memory().placements();
        const auto largest = std::max_element(rows.begin(), rows.end(),
                                              [](auto& a, auto& b) { return a.bytes < b.bytes; });
        QCOMPARE(table.model()->index(0, 0).data().toString(), largest->label);
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {},
                          table.visualRect(table.model()->index(0, 0)).center());
        QCOMPARE(m_window->memory().state().selectedBuffer, largest->buffer);
    }

    void copiesTheSelectedRows()
    {
        m_window->showPerspective(QStringLiteral("benchmark"));
        views::DataTable& table = m_window->part<views::BenchmarkPage>().table();
        table.setFocus();
        table.selectAll();
        QTest::keySequence(&table, QKeySequence::Copy);
        const QStringList lines = QGuiApplication::clipboard()->text().split(QLatin1Char('\n'));
        const auto& calls = m_window->workspace().calls().rows();
        QCOMPARE(lines.size(), static_cast<qsizetype>(calls.size()));
        for (size_t i = 0; i < calls.size(); ++i) {
            const QStringList cells = lines[static_cast<qsizetype>(i)].split(QLatin1Char('\t'));
            QCOMPARE(cells.size(), table.model()->columnCount());
            QCOMPARE(cells[1], calls[i].name);
        }
    }

    void opensAMenuAtARowAndWritesItsTable()
    {
        m_window->showPerspective(QStringLiteral("inspect"));
        auto& page = m_window->part<views::InspectPage>();
        const auto tables = page.findChildren<views::DataTable*>();
        auto* operators = *std::find_if(tables.begin(), tables.end(), [](auto* table) {
            return table->accessibleName() == QStringLiteral("Operators");
        });
        const QPoint first = operators->visualRect(operators->model()->index(0, 0)).center();
        QContextMenuEvent asked(QContextMenuEvent::Mouse, first,
                                operators->viewport()->mapToGlobal(first));
        QApplication::sendEvent(operators->viewport(), &asked);
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu);
        QVERIFY(actionOf(*menu, QStringLiteral("Show in the passes")));
        actionOf(*menu, QStringLiteral("Export as CSV…"))->trigger();
        menu->close();
        const QString csv = textOf(file("digits-operators.csv"));
        QVERIFY2(csv.startsWith(QStringLiteral("Operator,Count\n")), qPrintable(csv));
        QVERIFY(csv.contains(QStringLiteral("nn.conv2d,")));
    }

    /// From a card of the model to its kernel's memory.
    void goesFromACardToItsMemory()
    {
        m_window->showPerspective(QStringLiteral("inspect"));
        QVERIFY(m_window->selectNode(QStringLiteral("nn.conv2d")));
        views::GraphCanvas& canvas = m_window->part<views::InspectPage>().canvas();
        m_window->memory().selectBuffer(-1);
        const int item = canvas.selectedItem();
        QVERIFY(item >= 0);
        std::unique_ptr<QMenu> menu(
            views::Exhibit::of(canvas)->makeMenu(canvas.pixelRect(item).center().toPoint()));
        QVERIFY(!actionOf(*menu, QStringLiteral("Show its time"))); // nothing is measured
        QAction* go = actionOf(*menu, QStringLiteral("Show its memory"));
        QVERIFY(go);
        go->trigger();
        QVERIFY(m_window->part<views::MemoryPage>().isVisible());
        QVERIFY(m_window->memory().state().selectedBuffer >= 0);
        canvas.setFocus();
        QTest::keySequence(&canvas, QKeySequence::Copy);
        QVERIFY(QGuiApplication::clipboard()->text().contains(QStringLiteral("conv2d")));
    }

    /// A twin that is not shown is empty; the file is not.
    void namesTheNodesInTheFileOfAGraph()
    {
        m_window->showPerspective(QStringLiteral("passes"));
        views::GraphCanvas& canvas = m_window->part<views::PassesPage>().canvas();
        const QString csv = views::Exhibit::of(canvas)->csv();
        QVERIFY(csv.startsWith(QStringLiteral("Node,Name,")));
        const core::Module& module = m_window->workspace().document()->imported;
        QVERIFY(csv.contains(QString::fromStdString(module.sources().front().name)));
        QCOMPARE(csv.count(QLatin1Char('\n')),
                 static_cast<qsizetype>(canvas.scene().items.size()) + 1);
    }
};

QTEST_MAIN(ExhibitsTest)
#include <algorithm>

#include "exhibits_test.moc"
