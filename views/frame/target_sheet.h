// SPDX-License-Identifier: GPL-3.0-or-later
// TargetSheet: what to compile for as fields beside the string, each following the other.
#pragma once

#include "views/frame/overlay.h"
#include "views/pages/common/data_table.h"
#include "views/pages/common/pill_tabs.h"
#include "views/presenters/target_presenter.h"

#include <QCompleter>
#include <QGridLayout>

namespace tenon::views {

class TargetSheet : public Overlay
{
    Q_OBJECT
public:
    TargetSheet(const ThemeSource& themes, WorkspacePresenter& workspace, BoardsPresenter& boards,
                QWidget* window);
    void openForm();
    TargetPresenter& target() { return m_target; }
    QLineEdit& text() { return *m_text; }
    QLineEdit& processor() { return *m_cpu; }
    QLineEdit& features() { return *m_features; }
    PillButton& useFeatures() { return *m_useFeatures; }
    PillButton& measure() { return *m_measure; }
    TargetFigureModel& figures() { return *m_figures; }

private:
    QLineEdit* addField(const QString& label, const QString& hint);
    PillButton* addChoice(const QString& label);
    void choose(PillButton* button, const std::vector<std::pair<QString, QString>>& choices,
                const std::function<void(const QString&)>& take);
    QLayout* buildUnused();
    void buildFigures();
    QLayout* buildButtons();
    void takeFields();
    void refresh();

    TargetPresenter m_target;
    QGridLayout* m_grid;
    PillButton* m_board = nullptr;
    PillButton* m_kind = nullptr;
    PillButton* m_triple = nullptr;
    QLineEdit* m_cpu = nullptr;
    QLineEdit* m_features = nullptr;
    QLineEdit* m_abi = nullptr;
    QLineEdit* m_cores = nullptr;
    QLineEdit* m_text = nullptr;
    ThemedLabel* m_meaning = nullptr;
    ThemedLabel* m_unused = nullptr;
    PillButton* m_useFeatures = nullptr;
    ThemedLabel* m_processorTitle = nullptr;
    TargetFigureModel* m_figures;
    DataTable* m_figureTable = nullptr;
    PillButton* m_measure = nullptr;
    bool m_isShowing = false;
};

} // namespace tenon::views
