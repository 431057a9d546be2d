// SPDX-License-Identifier: GPL-3.0-or-later
// What one asks of a graph by gestures: found by name, followed through the passes, compared,
// coloured, folded and wrapped; options, target and pictures in their sheets. A real window, an X
// server, real key strokes.
#include "tests/app/workbench/window_user.h"
#include "views/frame/options_sheet.h"
#include "views/frame/overlay.h"
#include "views/frame/target_sheet.h"
#include "views/frame/trial_sheet.h"
#include "views/pages/inspect/inspect_page.h"
#include "views/pages/passes/passes_page.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::app;

namespace {

class GesturesTest : public WindowUser
{
    Q_OBJECT

private:
    void type(const QString& text) const { typeText(*m_window, text); }
    void showPage(const char* key, const QWidget& page) const
    {
        press(key);
        QVERIFY(waitFor([&] { return page.isVisible(); }));
        QVERIFY(settle());
    }
    template <class Sheet>
    void opensAndCloses(const char* key) const
    {
        auto& sheet = m_window->part<Sheet>();
        press(key);
        QVERIFY2(waitFor([&] { return sheet.isVisible(); }), key);
        press("Escape");
        QVERIFY2(waitFor([&] { return !sheet.isVisible(); }), key);
    }
    /// Through the palette, by some words of the command.
    void run(const QString& words) const
    {
        auto& palette = m_window->part<views::CommandPalette>();
        press("ctrl+k");
        QVERIFY(waitFor([&] { return palette.isVisible(); }));
        type(words);
        QVERIFY(waitFor([&] { return palette.findChild<QLineEdit*>()->text().endsWith(words); }));
        press("Return");
        QVERIFY(waitFor([&] { return !palette.isVisible(); }));
    }

private slots:
    void initTestCase()
    {
        makeWindow();
        compileSample();
    }
    void cleanupTestCase() { m_window.reset(); }

    void openOptionsTargetAndTrial()
    {
        opensAndCloses<views::OptionsSheet>("ctrl+shift+o");
        opensAndCloses<views::TargetSheet>("ctrl+t");
        opensAndCloses<views::TrialSheet>("ctrl+shift+i");
    }

    void colourTheCards()
    {
        showPage("alt+2", m_window->part<views::PassesPage>());
        const views::CardLooks before = m_window->passes().looks();
        press("c");
        QVERIFY(waitFor([&] { return !(m_window->passes().looks() == before); }));
        QVERIFY(m_window->passes().looks().isColoured);
    }

    void goThroughTheDiffsAndPin()
    {
        showPage("alt+2", m_window->part<views::PassesPage>());
        using views::DiffMode;
        for (const DiffMode mode : {DiffMode::Split, DiffMode::After, DiffMode::Union}) {
            press("d");
            QVERIFY(waitFor([&] { return m_window->passes().state().mode == mode; }));
        }
        const int shown = m_window->passes().state().version;
        press("p");
        QVERIFY(waitFor([&] { return m_window->passes().state().pinned == shown; }));
        press("f");
        QVERIFY(waitFor([&] { return m_window->passes().state().version != shown; }));
        QVERIFY(!m_window->passes().state().pinText.isEmpty());
        press("Escape"); // keys that mean nothing here change nothing
        QCOMPARE(m_window->passes().state().pinned, shown);
    }

    void findANodeByNameAndFollowIt()
    {
        showPage("alt+2", m_window->part<views::PassesPage>());
        const core::Module& imported = m_window->workspace().document()->imported;
        QString name; // that can be typed
        for (const core::NodeId id : imported.main().order)
            for (const core::SourceId source : imported.node(id).origin) {
                const QString found = QString::fromStdString(imported.sources()[source.value].name);
                const bool isPlain = std::none_of(found.begin(), found.end(),
                                                  [](QChar c) { return keyOf(c).isEmpty(); });
                if (name.isEmpty() && isPlain) name = found;
            }
        QVERIFY(!name.isEmpty());
        auto& palette = m_window->part<views::CommandPalette>();
        press("ctrl+f");
        QVERIFY(waitFor([&] { return palette.isVisible(); }));
        type(name);
        QVERIFY(waitFor([&] { return palette.findChild<QLineEdit*>()->text().endsWith(name); }));
        press("Return");
        QVERIFY(waitFor([&] { return m_window->workspace().selection().node().isValid(); }));
        QVERIFY(settle());
        auto& page = m_window->part<views::PassesPage>();
        page.canvas().setFocus();
        press("w");
        QVERIFY(waitFor([&] { return page.film().isVisible(); }));
        press("w");
        QVERIFY(waitFor([&] { return !page.film().isVisible(); }));
    }

    void wrapTheGraphAndUnwrapIt()
    {
        auto& page = m_window->part<views::InspectPage>();
        showPage("alt+1", page);
        run(QStringLiteral("wrap long"));
        QVERIFY(waitFor([&] { return m_window->inspect().isWrapped(); }));
        QVERIFY(settle());
        run(QStringLiteral("wrap long"));
        QVERIFY(waitFor([&] { return !m_window->inspect().isWrapped(); }));
        QVERIFY(settle());
    }
};

} // namespace

int main(int argc, char** argv)
{
    return onOwnDisplay(argc, argv, "1366x768x24", [&] {
        GesturesTest test;
        return QTest::qExec(&test, argc, argv);
    });
}

#include "gestures_test.moc"
