// SPDX-License-Identifier: GPL-3.0-or-later
// The two strips of the pass stepper: where in the program something changed, and when the
// selection was touched.
#pragma once

#include "views/presenters/passes_presenter.h"
#include "views/theme/theme_source.h"

#include <QWidget>

namespace tenon::views {

class HeatStrip : public QWidget
{
    Q_OBJECT
public:
    explicit HeatStrip(const ThemeSource& themes, QWidget* parent = nullptr);
    void setCells(std::vector<HeatCell> cells);
    QSize sizeHint() const override { return {300, 14}; }

signals:
    void placeChosen(int place);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    const ThemeSource& m_themes;
    std::vector<HeatCell> m_cells;
};

class LineageStrip : public QWidget
{
    Q_OBJECT
public:
    explicit LineageStrip(const ThemeSource& themes, QWidget* parent = nullptr);
    void setLineage(const Lineage& lineage, int versionCount, int version,
                    std::vector<QString> passNames);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

signals:
    void versionChosen(int version);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    double xOf(int version) const;
    int dotAt(QPointF position) const;

    const ThemeSource& m_themes;
    Lineage m_lineage;
    std::vector<QString> m_passNames;
    int m_versionCount = 1;
    int m_version = 0;
};

} // namespace tenon::views
