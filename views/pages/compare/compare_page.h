// SPDX-License-Identifier: GPL-3.0-or-later
// The Compare perspective: what to compare, the verdict, every tensor with its errors, and the
// values of one.
#pragma once

#include "views/pages/common/data_table.h"
#include "views/pages/common/notice.h"
#include "views/pages/compare/compare_form.h"
#include "views/pages/compare/tensor_view.h"

#include <QStackedWidget>

namespace tenon::views {

class ComparePage : public QWidget
{
    Q_OBJECT
public:
    explicit ComparePage(const PageContext& context);

    ComparePresenter& presenter() { return *m_presenter; }
    CompareForm& form() { return *m_form; }
    DataTable& table() { return *m_table; }
    EmptyNotice& notice() { return *m_notice; }
    ThemedLabel& verdict() { return *m_verdict; }
    TensorPresenter& tensor() { return *m_tensor; }
    TensorView& values() { return *m_values; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildResult();
    void refresh();
    void refreshNotice();
    void refreshColumns();
    void showSelected();

    const ThemeSource& m_themes;
    ComparePresenter* m_presenter;
    TensorPresenter* m_tensor;
    CompareForm* m_form;
    QStackedWidget* m_stack;
    EmptyNotice* m_notice;
    Panel* m_panel = nullptr;
    ThemedLabel* m_verdict = nullptr;
    ThemedLabel* m_details = nullptr;
    DataTable* m_table = nullptr;
    TensorView* m_values = nullptr;
};

} // namespace tenon::views
