// SPDX-License-Identifier: GPL-3.0-or-later
// One painting function for both formats.
#include "views/canvas/export_picture.h"

#include "views/canvas/graph_canvas.h"

#include <QBuffer>
#include <QImage>
#include <QSaveFile>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

constexpr double kSharpness = 2;       ///< pixels of a PNG per unit
constexpr double kLargestSide = 30000; ///< QPainter's limit is 32767
constexpr double kLargestPixels = 100e6;

core::Diagnostic notWritten(const QSaveFile& file)
{
    return core::makeError(core::DiagnosticCode::IoFailure,
                           file.fileName().toStdString() +
                               " could not be written: " + file.errorString().toStdString(),
                           {.file = file.fileName().toStdString()});
}

void paintSvg(QSizeF size, const std::function<void(QPainter&)>& paint, QIODevice& file)
{
    QSvgGenerator svg;
    svg.setOutputDevice(&file);
    svg.setSize(size.toSize());
    svg.setViewBox(QRectF(QPointF(), size));
    svg.setTitle(QStringLiteral("Tenon"));
    QPainter painter(&svg);
    paint(painter);
}

bool paintPng(QSizeF size, const std::function<void(QPainter&)>& paint, QSaveFile& file)
{
    const double side = std::max(size.width(), size.height());
    const double scale = std::min({kSharpness, kLargestSide / side,
                                   std::sqrt(kLargestPixels / (size.width() * size.height()))});
    QImage image((size * scale).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
    if (image.isNull()) return false;
    QPainter painter(&image);
    painter.scale(scale, scale);
    paint(painter);
    painter.end();
    return image.save(&file, "PNG");
}

} // namespace

core::Status exportPicture(QSizeF size, const std::function<void(QPainter&)>& paint,
                           const QString& path)
{
    const bool isSvg = path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
    if (!isSvg && !path.endsWith(QLatin1String(".png"), Qt::CaseInsensitive))
        return core::makeError(core::DiagnosticCode::BadArgument, "cannot tell the format of `" +
                                                                      path.toStdString() +
                                                                      "`; end it in .svg or .png");
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return notWritten(file);
    if (isSvg)
        paintSvg(size, paint, file);
    else if (!paintPng(size, paint, file))
        return notWritten(file);
    if (!file.commit()) return notWritten(file);
    return core::kDone;
}

core::Status exportText(const QString& text, const QString& path)
{
    QSaveFile file(path);
    if (file.open(QIODevice::WriteOnly) && file.write(text.toUtf8()) >= 0 && file.commit())
        return core::kDone;
    return notWritten(file);
}

namespace {

QRectF areaOf(const GraphCanvas& canvas)
{
    constexpr double kMargin = 24, kTitles = 40;
    const bool isSplit = !canvas.scene().columns.empty();
    return canvas.scene().visible.adjusted(-kMargin, -kMargin - (isSplit ? kTitles : 0), kMargin,
                                           kMargin);
}

void paintGraph(QPainter& painter, const GraphCanvas& canvas, const Theme& theme)
{
    const QRectF area = areaOf(canvas);
    ScenePainter scene(theme);
    scene.setScene(canvas.sharedScene());
    painter.fillRect(QRectF(QPointF(), area.size()), theme.canvas);
    const Camera camera{area.center(), 1};
    scene.paint(painter, camera, area.size(), {});
    scene.paintColumns(painter, camera, area.size());
    scene.paintLegend(painter, {}, area.size());
}

} // namespace

QSizeF graphSize(const GraphCanvas& canvas) { return areaOf(canvas).size(); }

void paintGraph(QPainter& painter, const GraphCanvas& canvas)
{
    paintGraph(painter, canvas, canvas.theme());
}

core::Status exportGraph(const GraphCanvas& canvas, const QString& path)
{
    return exportPicture(
        graphSize(canvas), [&](QPainter& painter) { paintGraph(painter, canvas); }, path);
}

QByteArray graphElement(const GraphCanvas& canvas)
{
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    const Theme theme = loadTheme(false);
    paintSvg(
        areaOf(canvas).size(), [&](QPainter& painter) { paintGraph(painter, canvas, theme); },
        buffer);
    const QByteArray file = buffer.data();
    return file.mid(std::max<qsizetype>(0, file.indexOf("<svg"))); // without the XML prologue
}

} // namespace tenon::views
