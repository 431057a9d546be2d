// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of the canvas beside what QPainter strokes by itself.
#include "views/canvas/stroke_lines.h"

#include <QImage>
#include <QTest>

#include <algorithm>

using namespace tenon::views;

class LinesTest : public QObject
{
    Q_OBJECT

private:
    enum class By
    {
        Painter,
        Us
    };

    static QPainterPath crossingLines()
    {
        QPainterPath path({-2000, 10});
        path.cubicTo({100, 10}, {150, 190}, {2600, 200});
        path.moveTo(250, -40);
        path.lineTo(260, 400);
        path.moveTo(0, 150);
        path.lineTo(600, 148);
        return path;
    }

    static QImage painted(const QPen& pen, double scale, By by)
    {
        QImage image(600, 240, QImage::Format_RGB32);
        image.fill(Qt::white);
        QPainter painter(&image);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.scale(scale, scale);
        const QRectF seen(0, 0, image.width() / scale, image.height() / scale);
        if (by == By::Painter)
            painter.strokePath(crossingLines(), pen);
        else
            strokeLines(painter, crossingLines(), pen, seen);
        return image;
    }

    static int largestDifference(const QImage& a, const QImage& b)
    {
        int largest = 0;
        for (int y = 0; y < a.height(); ++y)
            for (int x = 0; x < a.width(); ++x)
                largest = std::max(largest, std::abs(qRed(a.pixel(x, y)) - qRed(b.pixel(x, y))));
        return largest;
    }

    const QColor m_ink{40, 90, 200, 140}; ///< what is painted twice would be darker

private slots:
    void wideLinesLookAsStrokedWhereverTheirStripsMeet_data()
    {
        QTest::addColumn<double>("width");
        QTest::addColumn<double>("scale");
        for (const double width : {2.0, 3.5, 9.0})
            for (const double scale : {0.9, 1.0, 1.5})
                QTest::addRow("%g at %g", width, scale) << width << scale;
    }
    void wideLinesLookAsStrokedWhereverTheirStripsMeet()
    {
        QFETCH(double, width);
        QFETCH(double, scale);
        const QPen pen(m_ink, width);
        constexpr int kFlattening = 12; // of 255: curves become polygons at other places
        QVERIFY(largestDifference(painted(pen, scale, By::Painter), painted(pen, scale, By::Us)) <=
                kFlattening);
    }

    void linesAboutAPixelWideBecomeOnePixelOfAsMuchInk()
    {
        QColor darker = m_ink;
        darker.setAlphaF(m_ink.alphaF() * 1.25f);
        QCOMPARE(painted(QPen(m_ink, 1.25), 1, By::Us), painted(QPen(darker, 1), 1, By::Painter));
        QCOMPARE(painted(QPen(m_ink, 0.7), 1, By::Us), painted(QPen(m_ink, 0.7), 1, By::Painter));
    }
};

QTEST_MAIN(LinesTest)
#include "lines_test.moc"
