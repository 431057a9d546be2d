// SPDX-License-Identifier: GPL-3.0-or-later
// Canvas and theme: hit tests, keyboard walking, camera, contrast; painted offscreen.
#include "tests/views/fixtures.h"
#include "views/canvas/canvas_accessible.h"
#include "views/canvas/graph_canvas.h"
#include "views/models/stage.h"

#include <QAccessible>
#include <QSignalSpy>
#include <QTest>

#include <random>

using namespace tenon;
using namespace tenon::views;

class CanvasTest : public QObject
{
    Q_OBJECT

private:
    static ScenePtr scene(DocumentPtr document, size_t version)
    {
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(std::move(document)));
        stage.arrange();
        return std::make_shared<Scene>(stage.scene(version, DiffMode::Union));
    }

private slots:
    void gridFindsWhatALinearSearchFinds()
    {
        std::mt19937 random(3);
        std::uniform_real_distribution<double> place(0, 5000), size(1, 300);
        std::vector<QRectF> rects;
        for (int i = 0; i < 2000; ++i)
            rects.emplace_back(place(random), place(random), size(random),
                               size(random) * (i % 50 == 0 ? 20 : 1));
        const SpatialGrid grid(rects);
        for (int round = 0; round < 50; ++round) {
            const QRectF area(place(random), place(random), size(random), size(random));
            std::vector<uint32_t> expected;
            for (uint32_t i = 0; i < rects.size(); ++i)
                if (rects[i].intersects(area)) expected.push_back(i);
            QCOMPARE(grid.query(area), expected);
        }
    }

    void clickSelectsAndKeysWalk()
    {
        GraphCanvas canvas(loadTheme(false));
        canvas.setReducedMotion(true);
        canvas.resize(900, 700);
        canvas.setScene(scene(tests::smallDocument(2), 0));
        canvas.show();
        QSignalSpy selected(&canvas, &GraphCanvas::placeSelected);
        const int first = 0;
        QTest::mouseClick(&canvas, Qt::LeftButton, {}, canvas.pixelRect(first).center().toPoint());
        QCOMPARE(selected.count(), 1);
        const int start = canvas.selectedItem();
        QVERIFY(start >= 0);
        QTest::keyClick(&canvas, Qt::Key_Down);
        QVERIFY(canvas.selectedItem() != start);
        QVERIFY(canvas.pixelRect(canvas.selectedItem()).top() > canvas.pixelRect(start).top());
        QTest::keyClick(&canvas, Qt::Key_Up);
        QCOMPARE(canvas.selectedItem(), start);
        QTest::keyClick(&canvas, Qt::Key_Tab);
        QVERIFY(canvas.selectedItem() != start);
        QTest::keyClick(&canvas, Qt::Key_Escape);
        QCOMPARE(canvas.selectedItem(), -1);
    }

    void zoomsAboutThePointer()
    {
        Camera camera;
        const QSizeF view(800, 600);
        const QPointF pixel(123, 456), before = camera.toScene(pixel, view);
        camera.zoomAt(pixel, 1.7, view);
        const QPointF after = camera.toScene(pixel, view);
        QVERIFY(std::abs(after.x() - before.x()) < 1e-9 && std::abs(after.y() - before.y()) < 1e-9);
        QCOMPARE(camera.zoom, 1.7);
    }

    void paintsAtEveryLevelOfDetail()
    {
        GraphCanvas canvas(loadTheme(true));
        canvas.resize(640, 480);
        canvas.setScene(scene(tests::smallDocument(4), 3));
        const QColor empty = loadTheme(true).canvas;
        for (const double zoom : {0.05, 0.3, 1.0, 2.5}) {
            Camera camera;
            camera.centre = canvas.scene().items.back().rect.center();
            camera.zoom = zoom;
            canvas.setCamera(camera);
            const QImage picture = canvas.grab().toImage();
            int painted = 0;
            for (int y = 0; y < picture.height(); ++y)
                for (int x = 0; x < picture.width(); ++x)
                    painted += picture.pixelColor(x, y) != empty ? 1 : 0;
            QVERIFY2(painted > 100, qPrintable(QStringLiteral("nothing at zoom %1").arg(zoom)));
        }
    }

    void themesAreReadable()
    {
        for (const bool isDark : {false, true}) {
            const Theme t = loadTheme(isDark);
            const std::pair<const char*, double> pairs[] = {
                {"text on panel", contrastRatio(t.text, t.panel)},
                {"secondary on panel", contrastRatio(t.secondary, t.panel)},
                {"secondary on window", contrastRatio(t.secondary, t.window)},
                {"accent on panel", contrastRatio(t.accent, t.panel)},
                {"accent on its tint", contrastRatio(t.accent, t.accentTint)},
                {"text on the button", contrastRatio(t.accentText, t.accent)},
                {"added", contrastRatio(t.added, t.panel)},
                {"removed", contrastRatio(t.removed, t.removedTint)},
                {"changed", contrastRatio(t.changed, t.panel)},
                {"keyword", contrastRatio(t.codeKeyword, t.field)},
                {"comment", contrastRatio(t.codeComment, t.field)},
                {"number", contrastRatio(t.codeNumber, t.field)}};
            for (const auto& [name, ratio] : pairs)
                QVERIFY2(
                    ratio >= 4.5 || (qstrcmp(name, "accent on its tint") == 0 && ratio >= 4.0),
                    qPrintable(QStringLiteral("%1 %2: %3")
                                   .arg(isDark ? QStringLiteral("dark") : QStringLiteral("light"),
                                        QLatin1String(name))
                                   .arg(ratio)));
        }
    }

    void visibleItemsAreAccessibleChildren()
    {
        QAccessible::installFactory(canvasAccessibleFactory);
        GraphCanvas canvas(loadTheme(false));
        canvas.resize(900, 700);
        canvas.setScene(scene(tests::smallDocument(2), 3));
        QAccessibleInterface* all = QAccessible::queryAccessibleInterface(&canvas);
        QVERIFY(all);
        QCOMPARE(all->childCount(), static_cast<int>(canvas.visibleItems().size()));
        QVERIFY(all->childCount() > 3);
        for (int i = 0; i < all->childCount(); ++i)
            QVERIFY(!all->child(i)->text(QAccessible::Name).isEmpty());
        QCOMPARE(all->child(0)->text(QAccessible::Description),
                 QStringLiteral("added by this pass"));
    }

    void everyDiffStateHasAGlyph()
    {
        QStringList glyphs;
        for (const DiffState state : {DiffState::Added, DiffState::Removed, DiffState::Changed})
            glyphs << Theme::stateGlyph(state);
        QCOMPARE(QSet<QString>(glyphs.begin(), glyphs.end()).size(), 3);
        QVERIFY(!glyphs.contains(QString()));
    }
};

QTEST_MAIN(CanvasTest)
#include "canvas_test.moc"
