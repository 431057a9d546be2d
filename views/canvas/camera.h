// SPDX-License-Identifier: GPL-3.0-or-later
// Camera: which part of a scene the canvas looks at.
#pragma once

#include <QPointF>
#include <QRectF>
#include <QSizeF>

#include <algorithm>

namespace tenon::views {

struct Camera
{
    QPointF centre;
    double zoom = 1;

    static constexpr double kSmallestZoom = 0.002;
    static constexpr double kLargestZoom = 4;

    QPointF toScene(QPointF pixel, QSizeF view) const
    {
        return centre + (pixel - QPointF(view.width() / 2, view.height() / 2)) / zoom;
    }
    QPointF toPixel(QPointF point, QSizeF view) const
    {
        return (point - centre) * zoom + QPointF(view.width() / 2, view.height() / 2);
    }
    QRectF visible(QSizeF view) const
    {
        const QSizeF size = view / zoom;
        return {centre.x() - size.width() / 2, centre.y() - size.height() / 2, size.width(),
                size.height()};
    }
    /// Zooms by `factor` while the scene point under `pixel` stays there.
    void zoomAt(QPointF pixel, double factor, QSizeF view)
    {
        const QPointF anchor = toScene(pixel, view);
        zoom = std::clamp(zoom * factor, kSmallestZoom, kLargestZoom);
        centre += anchor - toScene(pixel, view);
    }
    /// All of `rect` with a margin; never closer than `closest`.
    void fit(const QRectF& rect, QSizeF view, double closest)
    {
        if (rect.isEmpty() || view.isEmpty()) return;
        constexpr double kMargin = 1.08;
        zoom = std::clamp(std::min({view.width() / (rect.width() * kMargin),
                                    view.height() / (rect.height() * kMargin), closest}),
                          kSmallestZoom, kLargestZoom);
        centre = rect.center();
    }
};

} // namespace tenon::views
