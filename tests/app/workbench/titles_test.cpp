// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels have names for people on every page; symbols stand in tooltips and in the inspector.
// Titles of columns are never cut, and those of panels keep their room in a small window.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "views/frame/title_bar.h"
#include "views/models/table_model.h"
#include "views/pages/common/data_table.h"
#include "views/pages/common/header_fold.h"
#include "views/pages/inspect/inspect_page.h"

#include <QAbstractItemView>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QTemporaryDir>
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

    void keepsTheHeadersOfPanelsInASmallWindow()
    {
        MainWindow window(makeEngine({}), {}, {true, false, {}, 1});
        window.resize(980, 620);
        window.show();
        QVERIFY(compilesSample(window));
        QVERIFY(window.selectNode(QStringLiteral("conv2d"))); // the inspector takes its room
        for (const views::Page& page : window.pages()) {
            QVERIFY(window.showPerspective(page.name));
            QVERIFY(settles(window));
            QVERIFY(!window.grab().isNull());
            for (auto* panel : page.widget->findChildren<views::Panel*>()) {
                if (!panel->isVisible()) continue;
                int end = 0;
                for (int i = 0; i < panel->header()->count(); ++i) {
                    const QWidget* part = panel->header()->itemAt(i)->widget();
                    if (!part || !part->isVisible()) continue;
                    const QByteArray where =
                        (page.name + QLatin1Char(' ') + panel->accessibleName() + QLatin1Char(' ') +
                         QLatin1String(part->metaObject()->className()))
                            .toUtf8();
                    QVERIFY2(part->x() >= end, where.constData());
                    QVERIFY2(part->geometry().right() < panel->width(), where.constData());
                    end = part->geometry().right();
                }
            }
        }
    }

    void offersInAMenuWhatAHeaderHasNoRoomFor()
    {
        MainWindow window(makeEngine({}), {}, {true, false, {}, 1});
        window.resize(1600, 1000);
        window.show();
        QVERIFY(opensSample(window));
        auto& page = window.part<views::InspectPage>();
        auto* more = page.findChild<views::HeaderFold*>();
        QVERIFY(!more->isVisible());
        auto* panel = qobject_cast<views::Panel*>(more->parentWidget());
        QCOMPARE(panel->accessibleName(), QStringLiteral("Graph"));
        const auto shown = [&] {
            QStringList texts;
            for (const auto* button : panel->findChildren<views::PillButton*>())
                if (button->isVisible() && button != more) texts << button->text();
            return texts;
        };
        const QStringList all = shown();
        QVERIFY(all.contains(QStringLiteral("Collapse")));
        window.resize(980, 620);
        QVERIFY(window.selectNode(QStringLiteral("conv2d")));
        QVERIFY(QTest::qWaitFor([&] { return more->isVisible(); }, 10000));
        QVERIFY(!shown().contains(QStringLiteral("Expand")));
        more->click();
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu);
        QStringList offered;
        for (const QAction* action : menu->actions()) offered << action->text();
        for (const QString& text : all)
            QVERIFY2(offered.contains(text) != shown().contains(text), qPrintable(text));
        const size_t open = page.canvas().scene().items.size();
        for (QAction* action : menu->actions())
            if (action->text() == QLatin1String("Collapse")) action->trigger();
        menu->close();
        QVERIFY(QTest::qWaitFor([&] { return page.canvas().scene().items.size() < open; }, 10000));
        window.resize(1600, 1000);
        QVERIFY(QTest::qWaitFor([&] { return !more->isVisible(); }, 10000));
        QCOMPARE(shown(), all);
    }

    /// A name that reads like a sentence is a name.
    void showsWhatItCanOfALongNameOfAFile()
    {
        const QTemporaryDir folder;
        const QString path = folder.filePath(
            QStringLiteral("Erkennung von Schlüsselwörtern mit einem sehr, sehr langen Namen, "
                           "Fassung 2 (überarbeitet, endgültig) – Kopie.onnx"));
        QVERIFY(QFile::copy(QStringLiteral(TENON_SAMPLE_MODEL), path));
        MainWindow window(makeEngine({}), {}, {true, false, {}, 1});
        window.show();
        window.openModel(path);
        for (const QSize size : {QSize(1600, 1000), QSize(980, 620)}) {
            window.resize(size);
            QVERIFY(settles(window));
            QLabel* name = nullptr;
            for (auto* label : window.part<views::TitleBar>().findChildren<QLabel*>())
                if (label->text().startsWith(QStringLiteral("Erkennung"))) name = label;
            QVERIFY(name);
            const QImage drawn = name->grab().toImage();
            bool hasInk = false;
            for (int y = 0; y < drawn.height(); ++y)
                for (int x = 0; x < drawn.width(); ++x)
                    hasInk = hasInk || drawn.pixel(x, y) != drawn.pixel(0, 0);
            QVERIFY(hasInk);
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
