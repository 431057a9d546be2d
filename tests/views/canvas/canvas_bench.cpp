// SPDX-License-Identifier: GPL-3.0-or-later
// Times storyboard, layout, stepping and frames of the canvas on synthetic graphs; prints
// milliseconds.
#include "tests/views/fixtures.h"
#include "views/canvas/graph_canvas.h"
#include "views/scene/stage.h"

#include <QApplication>
#include <QElapsedTimer>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace tenon;

namespace {

template <class Body>
double millisecondsOf(Body&& body)
{
    QElapsedTimer clock;
    clock.start();
    body();
    return static_cast<double>(clock.nsecsElapsed()) / 1e6;
}

/// 95th percentile of frames while panning and zooming at one zoom.
double framesAt(views::GraphCanvas& canvas, double zoom)
{
    std::vector<double> times;
    QPixmap target(canvas.size());
    for (int i = 0; i < 40; ++i) {
        views::Camera camera;
        camera.zoom = zoom * (1 + 0.01 * (i % 7));
        camera.centre = canvas.scene().bounds.center() + QPointF(3 * i, 17 * i) / zoom;
        canvas.setCamera(camera);
        times.push_back(millisecondsOf([&] { canvas.render(&target); }));
    }
    std::sort(times.begin(), times.end());
    return times[static_cast<size_t>(std::floor(0.95 * static_cast<double>(times.size())))];
}

} // namespace

int main(int argc, char** argv)
{
    const QApplication application(argc, argv);
    for (const int count : {1000, 10000, 100000}) {
        const views::DocumentPtr document = tests::largeDocument(count);
        std::shared_ptr<const views::Storyboard> board;
        const double boardMs =
            millisecondsOf([&] { board = std::make_shared<const views::Storyboard>(document); });
        views::Stage stage = views::Stage::forPasses(board);
        const double layoutMs = millisecondsOf([&] { stage.arrange(); });
        views::ScenePtr scene;
        const double sceneMs = millisecondsOf([&] {
            scene = std::make_shared<views::Scene>(stage.scene(0, views::DiffMode::Union));
        });
        views::GraphCanvas canvas(views::loadTheme(true));
        canvas.setReducedMotion(true);
        canvas.resize(1920, 1080);
        const double setMs = millisecondsOf([&] { canvas.setScene(scene); });
        std::printf("%7d nodes: places %.1f ms, layout %.1f ms, scene %.1f ms, canvas %.1f ms; "
                    "frame p95 at zoom 1: %.1f, 0.3: %.1f, all visible: %.1f ms\n",
                    count, boardMs, layoutMs, sceneMs, setMs, framesAt(canvas, 1),
                    framesAt(canvas, 0.3), framesAt(canvas, 1000.0 / scene->bounds.height()));
    }
    return 0;
}
