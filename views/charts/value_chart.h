// SPDX-License-Identifier: GPL-3.0-or-later
// ValueChart: how often values come, in a reference and on a device.
#pragma once

#include "views/models/tensor_slice.h"
#include "views/theme/theme_source.h"

#include <QWidget>

namespace tenon::views {

class ValueChart : public QWidget
{
    Q_OBJECT
public:
    explicit ValueChart(const ThemeSource& themes, QWidget* parent = nullptr);

    void setHistogram(const ValueHistogram& histogram);
    QSize sizeHint() const override { return {320, 180}; }
    QSize minimumSizeHint() const override { return {160, 96}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QRectF area() const;
    void paintAxis(QPainter& painter) const;
    double heightOf(int64_t count) const;

    const ThemeSource& m_themes;
    ValueHistogram m_histogram;
};

} // namespace tenon::views
