// SPDX-License-Identifier: GPL-3.0-or-later
// Canvas and theme: hit tests, keyboard walking, camera, contrast; painted offscreen.
#include "tests/views/fixtures.h"
#include "views/canvas/canvas_accessible.h"
#include "views/canvas/export_picture.h"
#include "views/canvas/graph_canvas.h"
#include "views/scene/stage.h"

#include <QAccessible>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include <algorithm>
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
        QTest::keyClick(&canvas, Qt::Key_N);
        QVERIFY(canvas.selectedItem() != start);
        QTest::keyClick(&canvas, Qt::Key_Escape);
        QCOMPARE(canvas.selectedItem(), -1);
    }

    void keepsBothVersionsInThePane()
    {
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(tests::smallDocument(3)));
        stage.arrange();
        const auto split = std::make_shared<Scene>(stage.split(0, 3));
        QCOMPARE(split->columns.size(), size_t{2});
        GraphCanvas canvas(loadTheme(false));
        canvas.setReducedMotion(true);
        canvas.resize(1000, 700);
        canvas.show();
        canvas.setScene(scene(tests::smallDocument(3), 3));
        canvas.setScene(split);
        const auto isInPane = [&] {
            const QRectF seen = canvas.camera().visible(canvas.size());
            return std::ranges::all_of(split->items, [&](const SceneItem& i) {
                const QRectF part = i.rect & seen.adjusted(-1e6, 0, 1e6, 0); // of its level
                return part.isEmpty() || i.isBeside || seen.contains(part);
            });
        };
        QVERIFY(isInPane());
        canvas.resize(620, 700); // another panel opens beside it
        QVERIFY(isInPane());
        canvas.resize(1000, 700);
        canvas.lookAtStart();
        QVERIFY(isInPane());
        canvas.setScene(scene(tests::smallDocument(3), 3)); // back to one: in the middle again
        QRectF program;
        for (const uint32_t index : canvas.visibleItems())
            if (!canvas.scene().items[index].isBeside) program |= canvas.scene().items[index].rect;
        QCOMPARE(canvas.camera().centre.x(), program.center().x());
    }

    void keepsTheMiddleInTheMiddleUntilItIsMovedByHand()
    {
        GraphCanvas canvas(loadTheme(false));
        canvas.resize(1000, 700);
        canvas.setScene(scene(tests::smallDocument(3), 3));
        canvas.setCamera({{123, 456}, 0.9}); // a session comes back before the window has its size
        canvas.resize(620, 500);
        canvas.show();
        QCOMPARE(canvas.camera().centre, QPointF(123, 456));
        const double top = canvas.camera().visible(canvas.size()).top();
        canvas.resize(800, 600);
        QCOMPARE(canvas.camera().centre.x(), 123.0);
        QCOMPARE(canvas.camera().visible(canvas.size()).top(), top);
        QWheelEvent sideways({300, 300}, canvas.mapToGlobal(QPointF(300, 300)), {}, {0, 120},
                             Qt::NoButton, Qt::ShiftModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(&canvas, &sideways);
        const double left = canvas.camera().visible(canvas.size()).left();
        canvas.resize(900, 600);
        QCOMPARE(canvas.camera().visible(canvas.size()).left(), left);
    }

    void titlesOfVersionsNeverCoverOneAnother()
    {
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(tests::smallDocument(3)));
        stage.arrange();
        ScenePainter painter(loadTheme(false));
        painter.setScene(std::make_shared<Scene>(stage.split(0, 3)));
        for (const double zoom : {0.01, 0.1, 0.5, 1.0}) {
            const Camera camera{painter.scene().visible.center(), zoom};
            const auto titles = painter.columnTitles(camera, QSizeF(600, 500));
            QCOMPARE(titles.size(), size_t{2});
            QVERIFY(!titles[0].intersects(titles[1]));
            QVERIFY(titles[0].left() >= 0 && titles[1].right() <= 600);
        }
    }

    void showsANoteAboutEverything()
    {
        GraphCanvas canvas(loadTheme(false));
        canvas.resize(640, 480);
        canvas.setScene(scene(tests::smallDocument(2), 0));
        const QImage plain = canvas.grab().toImage();
        canvas.setNote(QStringLiteral("times and code are those of llvm -mcpu=one"));
        QVERIFY(canvas.grab().toImage() != plain);
        QCOMPARE(canvas.accessibleDescription(), canvas.note());
        canvas.setNote({});
        QCOMPARE(canvas.grab().toImage(), plain);
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

    void showsTheEdgesOfASmallGraphFromAfarToo()
    {
        auto with = std::make_shared<Scene>();
        for (const double top : {0.0, 20000.0}) {
            with->items.emplace_back();
            with->items.back().rect = {0, top, kCardWidth, kCardHeight};
        }
        with->points = {{kCardWidth / 2, kCardHeight}, {kCardWidth / 2, 20000}};
        SceneEdge edge{0, 1};
        edge.count = 2;
        with->edges = {edge};
        with->bounds = with->visible = {0, 0, kCardWidth, 20000 + kCardHeight};
        auto without = std::make_shared<Scene>(*with);
        without->edges.clear();
        const auto paint = [](const ScenePtr& scene) {
            ScenePainter painter(loadTheme(false));
            painter.setScene(scene);
            QImage image(200, 400, QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter out(&image);
            painter.paint(out, {scene->visible.center(), 0.01}, image.size(), {});
            return image;
        };
        QVERIFY(paint(with) != paint(without));
    }

    void themesAreReadable()
    {
        for (const bool isDark : {false, true}) {
            const Theme t = loadTheme(isDark);
            // Every ink that writes, on everything that it is written on.
            const std::pair<const char*, QColor> surfaces[] = {{"panel", t.panel},
                                                               {"window", t.window},
                                                               {"field", t.field},
                                                               {"canvas", t.canvas},
                                                               {"card", t.card},
                                                               {"accentTint", t.accentTint},
                                                               {"addedTint", t.addedTint},
                                                               {"removedTint", t.removedTint},
                                                               {"changedTint", t.changedTint}};
            const std::pair<const char*, QColor> inks[] = {
                {"text", t.text}, {"secondary", t.secondary}, {"faint", t.faint}};
            const auto check = [&](const char* ink, const QColor& a, const char* on,
                                   const QColor& b) {
                const double ratio = contrastRatio(a, b);
                QVERIFY2(ratio >= 4.5, qPrintable(QStringLiteral("%1: %2 on %3 is %4")
                                                      .arg(isDark ? QStringLiteral("dark")
                                                                  : QStringLiteral("light"),
                                                           QLatin1String(ink), QLatin1String(on))
                                                      .arg(ratio)));
            };
            for (const auto& [ink, a] : inks)
                for (const auto& [on, b] : surfaces)
                    if (qstrcmp(ink, "faint") != 0 || b == t.panel || b == t.window || b == t.field)
                        check(ink, a, on, b);
            check("accent", t.accentInk, "panel", t.panel);
            check("accent", t.accentInk, "window", t.window);
            check("accent", t.accentInk, "its tint", t.accentTint);
            check("button text", t.accentText, "accent", t.accent);
            for (const DiffState state :
                 {DiffState::Added, DiffState::Removed, DiffState::Changed}) {
                check("a glyph", t.stateInk(state), "its tint", t.stateTint(state));
                check("a glyph", t.stateInk(state), "panel", t.panel);
            }
            for (const auto& [ink, a] :
                 {std::pair{"keyword", t.codeKeyword}, std::pair{"type", t.codeType},
                  std::pair{"number", t.codeNumber}, std::pair{"comment", t.codeComment},
                  std::pair{"name", t.codeName}, std::pair{"string", t.codeString}}) {
                check(ink, a, "field", t.field);
                check(ink, a, "the marked line", t.accentTint);
            }
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

    void morphsBetweenPassesUnlessSteppedFaster()
    {
        const auto document = tests::smallDocument(2);
        GraphCanvas canvas(loadTheme(false));
        canvas.resize(900, 700);
        canvas.setScene(scene(document, 2));
        canvas.show();
        QVERIFY(!canvas.isMorphing());
        canvas.setScene(scene(document, 3));
        QVERIFY(canvas.isMorphing());
        QVERIFY(!canvas.grab().isNull());
        canvas.setScene(scene(document, 2)); // before the first one ended
        QVERIFY(!canvas.isMorphing());
        canvas.play(scene(document, 1));
        QVERIFY(canvas.isMorphing());
        QVERIFY(QTest::qWaitFor([&] { return !canvas.isMorphing(); }, 60000));
        canvas.setReducedMotion(true);
        canvas.setScene(scene(document, 3));
        QVERIFY(!canvas.isMorphing());
    }

    void morphStartsAtTheOldPlacesAndEndsAtTheNewOnes()
    {
        const auto document = tests::foldedDocument(2);
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(document));
        QVERIFY(stage.arrange());
        const auto before = std::make_shared<Scene>(stage.scene(3, DiffMode::After));
        const auto after = std::make_shared<Scene>(stage.scene(4, DiffMode::After));
        Morph morph(SceneIndex(before), *after, after->bounds);
        for (const double time : {0.0, 1.0}) {
            morph.setTime(time);
            for (uint32_t i = 0; i < after->items.size(); ++i) {
                const SceneItem& item = after->items[i];
                const int old = before->itemAt(item.place);
                if (time == 1) QCOMPARE(morph.rectOf(i, item.rect), item.rect);
                if (time == 0 && old >= 0)
                    QCOMPARE(morph.rectOf(i, item.rect),
                             before->items[static_cast<size_t>(old)].rect);
                if (item.isFrame) QCOMPARE(morph.opacityOf(i), time);
            }
        }
        // Backwards the frames leave.
        const Morph back(SceneIndex(after), *before, before->bounds);
        QCOMPARE(back.leaving().size(), size_t{2});
    }

    void splitViewShowsBothSidesAndSelectsBoth()
    {
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(tests::smallDocument(2)));
        QVERIFY(stage.arrange());
        GraphCanvas canvas(loadTheme(true));
        canvas.setReducedMotion(true);
        canvas.resize(1200, 700);
        canvas.show();
        canvas.setScene(std::make_shared<Scene>(stage.scene(2, DiffMode::Union)));
        const QPointF centre = canvas.camera().centre;
        canvas.setScene(std::make_shared<Scene>(stage.split(1, 2)));
        QCOMPARE(canvas.camera().centre.y(), centre.y());
        bool isLeft = false, isRight = false;
        for (const uint32_t item : canvas.visibleItems())
            (canvas.scene().items[item].isBefore ? isLeft : isRight) = true;
        QVERIFY(isLeft && isRight);
        QVERIFY(!canvas.grab().isNull());
        canvas.setScene(std::make_shared<Scene>(stage.scene(2, DiffMode::Union)));
        QCOMPARE(canvas.camera().centre.y(), centre.y());
    }

    void exportsTheWholeSceneAsSvgAndPng()
    {
        const QTemporaryDir folder;
        GraphCanvas canvas(loadTheme(false));
        canvas.resize(300, 200); // smaller than the scene
        canvas.setScene(scene(tests::smallDocument(3), 2));
        const QString svg = folder.filePath(QStringLiteral("graph.svg"));
        const core::Status done = exportGraph(canvas, svg);
        QVERIFY2(done, done ? "" : done.error().message.c_str());
        QFile file(svg);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        QCOMPARE(text.count("nn.conv2d"), 3);
        QXmlStreamReader xml(text);
        while (!xml.atEnd()) xml.readNext();
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        const QString png = folder.filePath(QStringLiteral("graph.png"));
        QVERIFY(exportGraph(canvas, png));
        QVERIFY(QImage(png).height() > canvas.scene().visible.height());
        const core::Status unknown = exportGraph(canvas, folder.filePath(QStringLiteral("g.pdf")));
        QVERIFY(!unknown);
        QCOMPARE(unknown.error().code, core::DiagnosticCode::BadArgument);
        const core::Status nowhere = exportGraph(canvas, QStringLiteral("/no/such/folder/g.svg"));
        QVERIFY(!nowhere);
        QCOMPARE(nowhere.error().code, core::DiagnosticCode::IoFailure);
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
