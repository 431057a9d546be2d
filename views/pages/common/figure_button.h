// SPDX-License-Identifier: GPL-3.0-or-later
// FigureButton: what stands on the cards of kernel calls, times or expected errors.
#pragma once

#include "views/pages/common/pill_tabs.h"
#include "views/scene/stage.h"

namespace tenon::views {

class FigureButton : public PillButton
{
    Q_OBJECT
public:
    explicit FigureButton(const ThemeSource& themes, QWidget* parent = nullptr);
    /// Names what a click would show; hidden where there is nothing to choose from.
    void setChoice(bool isThere, CardFigure shown);
};

} // namespace tenon::views
