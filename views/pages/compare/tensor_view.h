// SPDX-License-Identifier: GPL-3.0-or-later
// TensorView: the selected tensor as heat maps of a slice, or as distribution and statistics.
#pragma once

#include "views/charts/heat_map.h"
#include "views/charts/value_chart.h"
#include "views/models/slice_rows.h"
#include "views/pages/common/data_table.h"
#include "views/pages/common/notice.h"
#include "views/pages/common/panel.h"
#include "views/pages/common/pill_tabs.h"
#include "views/presenters/tensor_presenter.h"

#include <QLineEdit>
#include <QStackedWidget>

namespace tenon::views {

class TensorView : public Panel
{
    Q_OBJECT
public:
    TensorView(const ThemeSource& themes, TensorPresenter& presenter, QWidget* parent = nullptr);

    PillTabs& tabs() { return *m_tabs; }
    HeatMap& reference() { return *m_reference; }
    HeatMap& device() { return *m_device; }
    HeatMap& difference() { return *m_difference; }
    DataTable& statistics() { return *m_table; }
    PillButton& rows() { return *m_rows; }
    PillButton& columns() { return *m_columns; }
    /// Of the axis; null: it is shown, or there is none.
    QLineEdit* indexField(int axis) const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* buildMaps();
    HeatMap* buildMap(const QString& title, const QString& name, SliceRows*& rows);
    void addField(int axis);
    QWidget* buildDistribution();
    QLayout* buildAxes();
    void chooseAxis(PillButton& button, bool isRow);
    void rebuildFields();
    void refresh();
    void refreshMaps();
    void refreshAxes();

    TensorPresenter& m_presenter;
    PillTabs* m_tabs;
    QStackedWidget* m_stack;
    EmptyNotice* m_notice;
    PillButton* m_rows = nullptr;
    PillButton* m_columns = nullptr;
    PillButton* m_worst = nullptr;
    QWidget* m_fields = nullptr;
    std::vector<int64_t> m_fieldShape; ///< of the tensor that m_fields is of
    HeatMap* m_reference = nullptr;
    HeatMap* m_device = nullptr;
    HeatMap* m_difference = nullptr;
    SliceRows* m_referenceRows = nullptr;
    SliceRows* m_deviceRows = nullptr;
    SliceRows* m_differenceRows = nullptr;
    ValueChart* m_chart = nullptr;
    DataTable* m_table = nullptr;
};

} // namespace tenon::views
