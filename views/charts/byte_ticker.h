// SPDX-License-Identifier: GPL-3.0-or-later
// ByteTicker: ticks of a byte axis at round binary sizes: "0", "512 KiB", "1 MiB", "1.5 MiB".
#pragma once

#include <qcustomplot.h>

namespace tenon::views {

class ByteTicker : public QCPAxisTicker
{
public:
    /// For an axis up to `most` bytes.
    explicit ByteTicker(double most = 0);
    /// As many ticks as an axis of that many pixels has room for, and a line of text above the
    /// most.
    void fit(QCPAxis& axis, int height);

protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

private:
    double m_most;
};

/// Whole numbers only, for axes that count.
class CountTicker : public QCPAxisTicker
{
protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
};

} // namespace tenon::views
