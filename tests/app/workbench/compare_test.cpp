// SPDX-License-Identifier: GPL-3.0-or-later
// The Compare page with the real engine and real events: one click to a verdict, the table, the
// colours of the graph, and bad input that loses nothing.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "compiler/frontend/tensor_file.h"
#include "views/pages/common/exhibit.h"
#include "views/pages/compare/compare_page.h"

#include <QClipboard>
#include <QFileInfo>
#include <QHeaderView>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

class CompareWindowTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;

    bool settle() const
    {
        return QTest::qWaitFor([&] { return m_window->isSettled(); }, 240000);
    }
    views::ComparePage& page() const { return m_window->part<views::ComparePage>(); }
    const views::CompareState& state() const { return page().presenter().state(); }
    static QString dataOfSample()
    {
        return QFileInfo(QStringLiteral(TENON_SAMPLE_MODEL)).path() +
               QStringLiteral("/test_data_set_0");
    }
    static void click(QWidget& widget)
    {
        QTest::mouseClick(&widget, Qt::LeftButton, {}, widget.rect().center());
    }
    void clickRow(int row) const
    {
        views::DataTable& table = page().table();
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {},
                          table.visualRect(table.model()->index(row, 1)).center());
    }

private slots:
    void initTestCase()
    {
        WindowOptions options{true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1};
        options.askForFile = [this](QWidget*, const views::FileQuestion&,
                                    const views::TakeFile& take) { take(m_folder.path()); };
        m_window = std::make_unique<MainWindow>(makeEngine({}), Settings(), options);
        m_window->resize(1366, 768);
        m_window->show();
    }
    void cleanupTestCase() { m_window.reset(); }

    void teachesBeforeAModelIsOpen()
    {
        QVERIFY(m_window->showPerspective(QStringLiteral("compare")));
        QVERIFY(page().notice().isVisible());
        QVERIFY(!page().form().startButton().isVisible());
        m_window->openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle());
        QVERIFY(m_window->showPerspective(QStringLiteral("compare")));
    }

    void comparesWithOneClick()
    {
        QVERIFY(state().canStart);
        // By keyboard, which stays where the button is.
        auto* begin = page().notice().findChild<views::PillButton*>();
        begin->setFocus();
        QTest::keyClick(begin, Qt::Key_Space);
        QVERIFY(state().isRunning);
        QVERIFY(settle());
        const QWidget* focus = m_window->focusWidget();
        QVERIFY2(focus && page().isAncestorOf(focus), "the keyboard left the page");
        QVERIFY2(state().hasResult, qPrintable(state().error));
        QCOMPARE(page().verdict().text(), QStringLiteral("Everything agrees"));
        QVERIFY(!page().notice().isVisible());
        QVERIFY(page().form().startButton().isVisible());
        const auto& comparison = *page().presenter().comparison();
        QCOMPARE(page().table().model()->rowCount(), static_cast<int>(comparison.tensors.size()));
        QVERIFY(comparison.tensors.size() > 4);
    }

    void sortsByTheErrorAndLeadsToTheNode()
    {
        constexpr int kSqnr = 4;
        views::DataTable& table = page().table();
        QHeaderView& titles = *table.horizontalHeader();
        QTest::mouseClick(titles.viewport(), Qt::LeftButton, {},
                          QPoint(titles.sectionViewportPosition(kSqnr) + 10, 8));
        for (int row = 1; row < table.model()->rowCount(); ++row)
            QVERIFY(table.model()->index(row - 1, kSqnr).data(views::SortRole).toDouble() >=
                    table.model()->index(row, kSqnr).data(views::SortRole).toDouble());
        m_window->workspace().selection().select({});
        clickRow(0);
        const int tensor = table.rowOf(table.model()->index(0, 0));
        QCOMPARE(state().selected, tensor);
        const auto& row = page().presenter().tensors().rows()[static_cast<size_t>(tensor)];
        QVERIFY(row.node.isValid());
        QCOMPARE(m_window->workspace().selection().node(), row.node);
        table.setFocus();
        QTest::keySequence(&table, QKeySequence::Copy);
        QVERIFY(QGuiApplication::clipboard()->text().contains(row.name));
        const QString csv = views::Exhibit::of(table)->csv();
        QVERIFY2(csv.startsWith(QStringLiteral("#,Tensor,Kernel,Nodes,SQNR dB,")),
                 qPrintable(csv.section(QLatin1Char('\n'), 0, 0)));
        table.sortByColumn(-1, Qt::AscendingOrder);
    }

    void showsTheValuesOfTheSelectedTensor()
    {
        clickRow(1);
        QVERIFY(settle());
        views::TensorView& values = page().values();
        const views::TensorState& shown = page().tensor().state();
        QVERIFY2(shown.hasTensor, qPrintable(shown.problem));
        QCOMPARE(shown.shape.size(), size_t{4});
        QVERIFY(values.reference().isVisible() && values.difference().isVisible());
        const double least = shown.digest.histogram.least,
                     greatest = shown.digest.histogram.greatest;
        QCOMPARE(values.device().colourAt(0, 0),
                 views::Theme::rampColour((shown.device.at(0, 0) - least) / (greatest - least)));
        QLineEdit* channel = values.indexField(1);
        QVERIFY(channel && channel->isVisible());
        QVERIFY(!values.indexField(3)->isVisible()); // it is across
        channel->setFocus();
        channel->selectAll();
        QTest::keyClicks(channel, QStringLiteral("3"));
        QCOMPARE(shown.slice.at[1], 3);
        QVERIFY(page().tensor().cellText(2, 1).startsWith(QStringLiteral("[0, 3, 2, 1]: ")));
        QTest::keyClick(channel, Qt::Key_Up);
        QCOMPARE(shown.slice.at[1], 4);
        QTest::keyClick(channel, Qt::Key_Down);
        QCOMPARE(channel->text(), QStringLiteral("3"));
        const QStringList cells =
            views::Exhibit::of(values.device())->csv().split(QLatin1Char('\n'));
        QCOMPARE(cells.size(), shown.device.rows + 2); // titles, and the end of the last line
        QCOMPARE(cells[3].section(QLatin1Char(','), 1, 1).toDouble(), shown.device.at(2, 1));
        QTest::mouseClick(&values.tabs(), Qt::LeftButton, {}, values.tabs().tabRect(1).center());
        QVERIFY(values.statistics().isVisible());
        QVERIFY(!values.reference().isVisible());
        QCOMPARE(values.statistics().model()->rowCount(), 7);
        const QString csv = views::Exhibit::of(values.statistics())->csv();
        QVERIFY2(csv.startsWith(QStringLiteral("Of all elements,Reference,Device,Difference\n")),
                 qPrintable(csv));
        QTest::mouseClick(&values.tabs(), Qt::LeftButton, {}, values.tabs().tabRect(0).center());
    }

    void coloursTheGraphByTheErrors()
    {
        QVERIFY(m_window->showPerspective(QStringLiteral("inspect")));
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        views::InspectPresenter& inspect = m_window->inspect();
        QWidget* canvas = m_window->pages().front().canvas;
        canvas->setFocus();
        const size_t count = views::colourings(*m_window->workspace().document()).size();
        for (size_t i = 0; i < count && inspect.looks().figure != views::CardFigure::IsolatedError;
             ++i)
            QTest::keyClick(canvas, Qt::Key_C);
        QCOMPARE(inspect.looks().figure, views::CardFigure::IsolatedError);
        QVERIFY(settle());
        int coloured = 0;
        for (const views::SceneItem& item : inspect.scene()->items)
            coloured += item.heat >= 0 && item.figure.contains(QStringLiteral("dB"));
        QVERIFY(coloured > 4);
        QVERIFY(inspect.scene()->least > inspect.scene()->largest); // dB
        // A card leads to its row, and the inspector has both errors.
        QVERIFY(m_window->selectNode(QStringLiteral("nn.softmax")));
        const auto& facts = m_window->inspector().state().facts;
        QVERIFY(std::any_of(facts.begin(), facts.end(), [](const views::FactRow& fact) {
            return fact.label == QLatin1String("error") &&
                   fact.value.contains(QStringLiteral(" dB, alone "));
        }));
        page().presenter().selectTensor(0);
        views::GraphCanvas& graph = *m_window->pages().front().canvas;
        std::unique_ptr<QMenu> menu(views::Exhibit::of(graph)->makeMenu(
            graph.pixelRect(graph.selectedItem()).center().toPoint()));
        for (QAction* action : menu->actions())
            if (action->text() == QStringLiteral("Show its error")) action->trigger();
        QVERIFY(page().isVisible());
        QCOMPARE(state().selected, page().table().model()->rowCount() - 1);
        inspect.setLooks({});
    }

    void namesTheTensorThatIsOff()
    {
        const auto& comparison = *page().presenter().comparison();
        const core::ComparedTensor& last = comparison.tensors.back();
        const std::string path = m_folder.filePath(QStringLiteral("a.pb")).toStdString();
        const std::vector<float> wrong(static_cast<size_t>(last.cumulative.elements), 7);
        QVERIFY(compiler::writeTensorFile(
            path,
            core::Tensor::of<float>(core::kFloat32, {1, static_cast<int64_t>(wrong.size())}, wrong),
            last.name));
        QVERIFY(m_window->showPerspective(QStringLiteral("compare")));
        page().presenter().setReferenceKind(views::ReferenceKind::Folder);
        QVERIFY(page().form().referencePath().isVisible());
        page().form().referencePath().setFocus();
        QTest::keyClicks(&page().form().referencePath(), m_folder.path());
        page().form().data().setFocus();
        QTest::keyClicks(&page().form().data(), dataOfSample());
        QVERIFY(state().isStale);
        QVERIFY2(page().form().command().text().contains(QStringLiteral("--reference ") +
                                                         m_folder.path()),
                 qPrintable(page().form().command().text()));
        click(page().form().startButton());
        QVERIFY(settle());
        QVERIFY2(state().error.isEmpty(), qPrintable(state().error));
        QVERIFY2(page().verdict().text().contains(QString::fromStdString(last.name)),
                 qPrintable(page().verdict().text()));
        QVERIFY(!state().verdict.isWithin);
    }

    void tellsOfBadDataAndLosesNothing()
    {
        const int rows = page().table().model()->rowCount();
        page().form().data().setText(QStringLiteral("/nowhere"));
        QVERIFY(page().form().problem().isVisible());
        QVERIFY(!page().form().startButton().isEnabled());
        const QTemporaryDir wrong;
        QVERIFY(compiler::writeTensorFile(
            wrong.filePath(QStringLiteral("input_0.npy")).toStdString(),
            core::Tensor::of<float>(core::kFloat32, {2, 2}, std::vector<float>(4)), "x"));
        page().form().data().setText(wrong.path());
        click(page().form().startButton());
        QVERIFY(settle());
        QVERIFY(m_window->workspace().state().bannerText.contains(QStringLiteral("but was given")));
        QCOMPARE(page().table().model()->rowCount(), rows);
        QVERIFY(state().hasResult && state().isStale); // what is shown is no answer to this
    }

    void stopsWhenItIsToldTo()
    {
        page().form().data().clear();
        page().presenter().setReferenceKind(views::ReferenceKind::LevelZero);
        click(page().form().startButton());
        QVERIFY(state().isRunning);
        click(page().form().stopButton());
        QVERIFY(settle());
        QVERIFY(!state().isRunning);
        QVERIFY(state().hasResult); // the one before
    }
};

QTEST_MAIN(CompareWindowTest)
#include <algorithm>

#include "compare_test.moc"
