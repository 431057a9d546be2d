// SPDX-License-Identifier: GPL-3.0-or-later
// The samples of one run above, the other runs and the differences below.
#include "views/frame/run_sheet.h"

#include "views/pages/common/columns.h"

#include <algorithm>

namespace tenon::views {

using Role = ThemedLabel::Role;

namespace {

Measurement measurementOf(const HistoryRow& row)
{
    Measurement out;
    out.runUs = row.runUs;
    out.runs = row.runs;
    out.medianUs = row.medianUs;
    out.lowUs = row.lowUs;
    out.highUs = row.highUs;
    out.isEmulated = row.isEmulated;
    out.unit = row.unit;
    return out;
}

} // namespace

RunSheet::RunSheet(const ThemeSource& themes, DeployPresenter& deploy, QWidget* window)
    : Overlay(themes, window, {960, 680})
    , m_deploy(deploy)
    , m_text(makeSentence(themes, Role::Body))
    , m_chart(new RunChart(themes))
    , m_samples(makeRunTable(this))
    , m_chartTwin(new TableTwin(themes, m_chart, m_samples, tr("Chart")))
    , m_runs(new DataTable(themes, &deploy.runs()))
    , m_reason(makeSentence(themes, Role::Secondary))
    , m_changes(makeCallChangeModel(this))
    , m_calls(new DataTable(themes, m_changes))
{
    constexpr int kChartHeight = 190, kRunsHeight = 130;
    panel().setTitle(tr("Earlier measurement"));
    panel().setCaption(tr("Esc closes"));
    panel().header()->addWidget(m_chartTwin->button());
    m_chartTwin->table().setColumnWidths({60, 110});
    m_chartTwin->setFixedHeight(kChartHeight);
    m_runs->setAccessibleName(tr("Runs to compare with"));
    m_runs->setColumnWidths({124, 180, 96, 0, 150});
    m_runs->setFixedHeight(kRunsHeight);
    m_calls->setAccessibleName(tr("Kernel calls of both runs"));
    m_calls->setColumnWidths({0, 90, 90, 190, 80});
    m_calls->delegate().setBarColumn(3, 78);
    panel().content()->addLayout(indented(m_text));
    panel().content()->addWidget(m_chartTwin);
    panel().content()->addLayout(
        indented(new ThemedLabel(themes, Role::Strong, tr("Call by call beside"))));
    panel().content()->addWidget(m_runs);
    panel().content()->addLayout(indented(m_reason));
    panel().content()->addWidget(m_calls, 1);
    m_text->setObjectName(QStringLiteral("comparison"));
    // By the mouse and by the keys.
    connect(m_runs->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& index) {
                if (index.isValid()) takeOther(m_runs->rowOf(index));
            });
}

void RunSheet::openRun(int row)
{
    const auto& ours = m_deploy.history().rows();
    if (row < 0 || row >= static_cast<int>(ours.size())) return;
    m_now = ours[static_cast<size_t>(row)];
    open();
    compareWith(usualOther());
    m_runs->setFocus();
}

/// The one before it on the same board, or else on another, or else itself.
int RunSheet::usualOther() const
{
    int other = -1;
    const auto& rows = m_deploy.runs().rows();
    for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].id >= m_now.id) continue;
        if (rows[i].board == m_now.board) return static_cast<int>(i);
        if (other < 0) other = static_cast<int>(i);
    }
    return std::max(other, 0);
}

void RunSheet::compareWith(int row)
{
    m_runs->showRow(row);
    takeOther(row); // it may have been the current one before
}

void RunSheet::takeOther(int row)
{
    const auto& rows = m_deploy.runs().rows();
    if (row < 0 || row >= static_cast<int>(rows.size())) return;
    m_before = rows[static_cast<size_t>(row)];
    refresh();
}

void RunSheet::refresh()
{
    m_text->setText(runChangeText(m_now, m_before));
    m_chart->setMeasurement(measurementOf(m_now));
    m_samples->setRows(runRows(measurementOf(m_now)));
    m_chartTwin->setVisible(hasSpread(measurementOf(m_now)));
    m_chartTwin->button()->setVisible(hasSpread(measurementOf(m_now)));
    m_changes->setRows(callChangeRows(m_now, m_before));
    m_reason->setText(m_changes->rowCount() > 0 ? QString()
                      : m_now.calls.empty()
                          ? tr("The calls of this run were not kept one by one: it was measured by "
                               "an earlier version, or by a server that does not tell them.")
                      : m_now.unit != m_before.unit
                          ? tr("One run counted instructions, the other one took time.")
                          : tr("The calls of the other run were not kept one by one."));
    m_reason->setVisible(!m_reason->text().isEmpty());
}

} // namespace tenon::views
