// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of the choice between times and expected errors.
#include "views/pages/common/figure_button.h"

namespace tenon::views {

FigureButton::FigureButton(const ThemeSource& themes, QWidget* parent)
    : PillButton(themes, Look::Quiet, tr("Errors"), parent)
{
    hide();
}

void FigureButton::setChoice(bool isThere, CardFigure shown)
{
    const bool isTime = shown == CardFigure::Time;
    setText(isTime ? tr("Errors") : tr("Times"));
    setToolTip(isTime ? tr("What rounding in each kernel is expected to add to the results' error")
                      : tr("The measured time of each kernel call"));
    setVisible(isThere);
}

} // namespace tenon::views
