// SPDX-License-Identifier: GPL-3.0-or-later
// HeatMap: a slice of a tensor as coloured cells with the ends of its colours below.
#pragma once

#include "views/models/tensor_slice.h"
#include "views/theme/theme_source.h"

#include <QImage>
#include <QWidget>

#include <functional>

namespace tenon::views {

class HeatMap : public QWidget
{
    Q_OBJECT
public:
    HeatMap(const ThemeSource& themes, const QString& title, QWidget* parent = nullptr);

    /// Colours go from `least` to `greatest`; what is no number is struck out.
    void setRaster(const Raster& raster, double least, double greatest);
    /// Of magnitudes: colours go from zero, and signs are in the text only.
    void setMagnitudes(const Raster& raster, double greatest);
    /// What the tool tip says of a cell.
    void setCellText(std::function<QString(int row, int column)> text);
    QColor colourAt(int row, int column) const;
    QRectF cells() const; ///< where they are, in pixels
    QSize sizeHint() const override { return {220, 180}; }
    QSize minimumSizeHint() const override { return {120, 96}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    void paintScale(QPainter& painter) const;

    const ThemeSource& m_themes;
    QString m_title;
    QImage m_image;
    double m_least = 0;
    double m_greatest = 0;
    int64_t m_tall = 1; ///< elements in each direction: the proportions
    int64_t m_wide = 1;
    std::function<QString(int, int)> m_cellText;
};

} // namespace tenon::views
