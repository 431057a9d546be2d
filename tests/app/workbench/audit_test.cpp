// SPDX-License-Identifier: GPL-3.0-or-later
// The whole window at once: every command can be given, nothing stays open that Escape does not
// close, everything that a hand can reach has a name for those who cannot see it, and every chart
// draws what its table says.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "views/charts/live_chart.h"
#include "views/pages/benchmark/benchmark_page.h"
#include "views/pages/executors/executors_page.h"
#include "views/pages/inspect/inspect_page.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/passes/passes_page.h"

#include <QAccessible>
#include <QHeaderView>
#include <QMenu>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

namespace {

/// What a person presses, writes into, moves, reads or chooses from.
bool needsName(QAccessible::Role role)
{
    switch (role) {
    case QAccessible::Button:
    case QAccessible::ButtonMenu:
    case QAccessible::Canvas:
    case QAccessible::Chart:
    case QAccessible::CheckBox:
    case QAccessible::ComboBox:
    case QAccessible::EditableText:
    case QAccessible::Graphic:
    case QAccessible::List:
    case QAccessible::MenuItem:
    case QAccessible::PageTab:
    case QAccessible::PageTabList:
    case QAccessible::ProgressBar:
    case QAccessible::RadioButton:
    case QAccessible::Slider:
    case QAccessible::SpinBox:
    case QAccessible::Table:
    case QAccessible::Tree: return true;
    default: return false;
    }
}

/// The way to it, for the message.
QString placeOf(QAccessibleInterface* part)
{
    QStringList way;
    for (; part; part = part->parent()) {
        const QObject* object = part->object();
        way.prepend(object ? QString::fromLatin1(object->metaObject()->className())
                           : QStringLiteral("?"));
    }
    return way.join(QStringLiteral(" > "));
}

} // namespace

class AuditTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;

    bool settle() const
    {
        return QTest::qWaitFor([&] { return m_window->isSettled(); }, 120000);
    }
    std::vector<views::Overlay*> openOverlays() const
    {
        std::vector<views::Overlay*> open;
        for (auto* overlay : m_window->findChildren<views::Overlay*>())
            if (overlay->isVisible()) open.push_back(overlay);
        return open;
    }
    /// Popups and overlays, as often as they stand on one another.
    bool closesByEscape() const
    {
        constexpr int kMostDeep = 4;
        for (int i = 0; i < kMostDeep; ++i) {
            if (QWidget* popup = QApplication::activePopupWidget()) {
                QTest::keyClick(popup, Qt::Key_Escape);
                continue;
            }
            if (openOverlays().empty()) return true;
            QWidget* focus = QApplication::focusWidget();
            QTest::keyClick(focus ? focus : m_window.get(), Qt::Key_Escape);
        }
        return openOverlays().empty() && !QApplication::activePopupWidget();
    }
    void findNameless(QAccessibleInterface* part, QStringList& found) const
    {
        if (!part || !part->isValid() || part->state().invisible) return;
        const QAccessible::Role role = part->role();
        if (needsName(role) && part->text(QAccessible::Name).trimmed().isEmpty())
            found << placeOf(part);
        // Cells are named by what stands in them, parts of a field by the field.
        if (role == QAccessible::Table || role == QAccessible::List || role == QAccessible::Tree ||
            role == QAccessible::ComboBox || role == QAccessible::SpinBox ||
            role == QAccessible::EditableText)
            return;
        for (int i = 0; i < part->childCount(); ++i) findNameless(part->child(i), found);
    }
    QStringList nameless() const
    {
        QStringList found;
        findNameless(QAccessible::queryAccessibleInterface(m_window.get()), found);
        return found;
    }

private slots:
    void initTestCase()
    {
        WindowOptions options{true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1};
        options.askForFile = [](QWidget*, const views::FileQuestion&, const views::TakeFile&) {};
        EngineOptions engine;
        engine.repeats = 3;
        engine.configFolder = m_folder.filePath(QStringLiteral("config"));
        engine.cacheFolder = m_folder.filePath(QStringLiteral("cache"));
        m_window = std::make_unique<MainWindow>(makeEngine(engine), Settings(), options);
        m_window->resize(1366, 768);
        m_window->show();
        m_window->activateWindow();
        m_window->openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle());
        m_window->workspace().compile();
        QVERIFY(settle());
        m_window->deploy().deploy();
        QVERIFY(settle());
        QVERIFY2(m_window->workspace().document()->measurement,
                 qPrintable(m_window->workspace().state().bannerText));
    }
    void cleanupTestCase() { m_window.reset(); }

    void chartsDrawWhatTheirTablesSay()
    {
        const views::DocumentPtr document = m_window->workspace().document();
        auto& memory = m_window->part<views::MemoryPage>();
        const auto* curve = memory.findChild<views::LiveChart*>();
        const auto& live = m_window->memory().live().rows();
        const std::vector<double> drawn = curve->drawnBytes();
        QCOMPARE(drawn.size(), live.size());
        QVERIFY(!live.empty());
        for (size_t i = 0; i < live.size(); ++i)
            QCOMPARE(drawn[i], static_cast<double>(live[i].bytes));

        auto& benchmark = m_window->part<views::BenchmarkPage>();
        const auto* runs = benchmark.findChild<views::RunChart*>();
        QAbstractItemModel& rows = *benchmark.chartTwin().table().model();
        QCOMPARE(static_cast<int>(runs->runUs().size()), rows.rowCount());
        QVERIFY(rows.rowCount() > 0);
        for (int i = 0; i < rows.rowCount(); ++i)
            QCOMPARE(rows.index(i, 1).data(views::SortRole).toDouble(),
                     runs->runUs()[static_cast<size_t>(i)]);

        m_window->showPerspective(QStringLiteral("executors"));
        QVERIFY(QTest::qWaitFor([&] { return m_window->executors().state().hasFootprint; }, 60000));
        auto& executors = m_window->part<views::ExecutorsPage>();
        verifyBars(executors.flash().bars(), QStringLiteral("flash"), executors.table());
        verifyBars(executors.ram().bars(), QStringLiteral("RAM"), executors.table());

        for (const char* name : {"inspect", "passes"}) {
            m_window->showPerspective(QLatin1String(name));
            QVERIFY(settle());
            views::GraphCanvas* canvas = nullptr;
            for (const views::Page& page : m_window->pages())
                if (page.name == QLatin1String(name)) canvas = page.canvas;
            const QString csv = views::Exhibit::of(*canvas)->csv();
            QCOMPARE(csv.count(QLatin1Char('\n')),
                     static_cast<qsizetype>(canvas->scene().items.size()) + 1);
            for (const views::SceneItem& item : canvas->scene().items)
                QVERIFY2(csv.contains(
                             QString(item.title).replace(QLatin1Char('"'), QStringLiteral("\"\""))),
                         qPrintable(item.title));
        }
    }

    /// Whose time it is matters most; what gives way is said elsewhere, too.
    void readsTheNamesOfKernelsInASmallWindow()
    {
        m_window->showPerspective(QStringLiteral("benchmark"));
        const views::DataTable* table = nullptr;
        for (const auto* one :
             m_window->part<views::BenchmarkPage>().findChildren<views::DataTable*>())
            if (one->accessibleName() == QLatin1String("Kernel calls")) table = one;
        QVERIFY(table);
        constexpr int kKernel = 1, kTime = 4, kError = 8, kLeast = 160;
        const QSize before = m_window->size();
        m_window->resize(1600, 1000);
        QVERIFY(!m_window->grab().isNull());
        QCOMPARE(table->isColumnHidden(kError), !table->hasText(kError));
        QVERIFY(table->columnWidth(kKernel) >= kLeast);
        m_window->resize(980, 620);
        QVERIFY(!m_window->grab().isNull());
        QVERIFY(table->columnWidth(kKernel) >= kLeast);
        QVERIFY(!table->isColumnHidden(kTime));
        m_window->resize(before);
    }

    /// On pages, and on the sheets over them.
    void everythingHasAName()
    {
        for (const views::Page& page : m_window->pages()) {
            m_window->showPerspective(page.name);
            QVERIFY(settle());
            const QStringList found = nameless();
            QVERIFY2(found.isEmpty(),
                     qPrintable(page.name + QLatin1Char('\n') + found.join(QLatin1Char('\n'))));
        }
        for (const char* sheet : {"palette", "keys", "log", "options", "target-editor", "add-board",
                                  "try", "project"}) {
            m_window->openOverlay(QLatin1String(sheet));
            QVERIFY2(!openOverlays().empty(), sheet);
            const QStringList found = nameless();
            QVERIFY2(found.isEmpty(), qPrintable(QLatin1String(sheet) + QLatin1Char('\n') +
                                                 found.join(QLatin1Char('\n'))));
            QVERIFY2(closesByEscape(), sheet);
        }
    }

    /// As the palette gives it, from each kind of page; work that takes long is cancelled.
    void everyCommandCanBeGiven()
    {
        const std::vector<views::ActionSpec> specs = m_window->actions().specs();
        int given = 0;
        for (const views::ActionSpec& spec : specs) {
            if (!spec.run || spec.id == QLatin1String("quit")) continue;
            for (const char* page : {"inspect", "passes", "memory"}) {
                m_window->showPerspective(QLatin1String(page));
                QAction* action = m_window->actions().action(spec.id);
                if (!action->isEnabled()) continue;
                action->trigger();
                ++given;
                QTest::qWait(20);
                m_window->cancelJobs();
                QVERIFY2(settle(), qPrintable(spec.id));
                QVERIFY2(closesByEscape(), qPrintable(spec.id));
                QVERIFY2(m_window->isVisible(), qPrintable(spec.id));
                QVERIFY2(m_window->workspace().document(), qPrintable(spec.id));
            }
        }
        QVERIFY2(given > static_cast<int>(specs.size()), qPrintable(QString::number(given)));
        m_window->actions().action(QStringLiteral("quit"))->trigger();
        QVERIFY(!m_window->isVisible());
    }

private:
    /// Every stretch of every bar has its cell.
    static void verifyBars(const std::vector<views::StackBar>& bars, const QString& memory,
                           const views::DataTable& table)
    {
        QVERIFY(!bars.empty());
        const QAbstractItemModel& model = *table.model();
        for (size_t bar = 0; bar < bars.size(); ++bar)
            for (const views::StackPart& part : bars[bar].parts) {
                bool isFound = false;
                for (int row = 0; row < model.rowCount() && !isFound; ++row)
                    isFound =
                        model.index(row, views::PartsModel::kMemory).data() == memory &&
                        model.index(row, views::PartsModel::kPart).data().toString() == part.name &&
                        model.index(row, views::PartsModel::kFirstExecutor + static_cast<int>(bar))
                                .data(views::SortRole)
                                .toLongLong() == part.bytes;
                QVERIFY2(isFound || part.bytes == 0,
                         qPrintable(bars[bar].label + QLatin1Char(' ') + part.name));
            }
    }
};

QTEST_MAIN(AuditTest)
#include "audit_test.moc"
