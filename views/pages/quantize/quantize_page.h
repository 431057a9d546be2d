// SPDX-License-Identifier: GPL-3.0-or-later
// The Quantize perspective: the form, the curve of error against size or time, layers and tensors,
// values of the selected one with their range, and what the model takes before and after.
#pragma once

#include "views/charts/mix_chart.h"
#include "views/charts/range_chart.h"
#include "views/pages/common/data_table.h"
#include "views/pages/common/notice.h"
#include "views/pages/quantize/quantize_form.h"

#include <QStackedWidget>

namespace tenon::views {

class QuantizePage : public QWidget
{
    Q_OBJECT
public:
    explicit QuantizePage(const PageContext& context);

    QuantizePresenter& presenter() { return *m_presenter; }
    QuantizeForm& form() { return *m_form; }
    MixChart& chart() { return *m_chart; }
    RangeChart& values() { return *m_values; }
    DataTable& layers() { return *m_layers; }
    DataTable& tensors() { return *m_tensors; }
    DataTable& placed() { return *m_placed; }
    PillTabs& axis() { return *m_axis; }
    PillTabs& tables() { return *m_tables; }

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* buildMiddle();
    QWidget* buildCurve();
    QWidget* buildTables();
    QWidget* buildSide();
    void connectTables(Selection& selection);
    void addLayerCommands();
    void refresh();
    void refreshNotice();

    const ThemeSource& m_themes;
    QuantizePresenter* m_presenter;
    QuantizeForm* m_form;
    QStackedWidget* m_stack;
    EmptyNotice* m_notice;
    Panel* m_curvePanel = nullptr;
    Panel* m_tablePanel = nullptr;
    QWidget* m_side = nullptr; ///< of a result
    Panel* m_placedPanel = nullptr;
    Panel* m_valuesPanel = nullptr;
    MixChart* m_chart = nullptr;
    RangeChart* m_values = nullptr;
    DataTable* m_layers = nullptr;
    DataTable* m_tensors = nullptr;
    DataTable* m_placed = nullptr;
    PillTabs* m_axis = nullptr;
    PillTabs* m_tables = nullptr;
    QStackedWidget* m_tableStack = nullptr;
    ThemedLabel* m_summary = nullptr;
    ThemedLabel* m_tensorText = nullptr;
    ThemedLabel* m_warnings = nullptr;
};

} // namespace tenon::views
