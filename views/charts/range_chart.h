// SPDX-License-Identifier: GPL-3.0-or-later
// RangeChart: how often values of a tensor came, and the range that its integers have: what lies
// beyond is clipped.
#pragma once

#include "views/models/quantize_rows.h"
#include "views/theme/theme_source.h"

#include <QWidget>

namespace tenon::views {

class RangeChart : public QWidget
{
    Q_OBJECT
public:
    explicit RangeChart(const ThemeSource& themes, QWidget* parent = nullptr);

    void setTensor(const QuantizeRow& tensor);
    QSize sizeHint() const override { return {280, 190}; }
    QSize minimumSizeHint() const override { return {160, 110}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void paintBars(QPainter& painter, const QRectF& where) const;
    void paintRange(QPainter& painter, const QRectF& where) const;
    double xOf(double value, const QRectF& where) const;

    const ThemeSource& m_themes;
    QuantizeRow m_tensor;
};

} // namespace tenon::views
