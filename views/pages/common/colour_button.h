// SPDX-License-Identifier: GPL-3.0-or-later
// ColourButton: what the cards of a graph are coloured by, and with it what figure stands on them.
#pragma once

#include "views/pages/common/pill_tabs.h"
#include "views/scene/card_looks.h"

namespace tenon::views {

class ColourButton : public PillButton
{
    Q_OBJECT
public:
    explicit ColourButton(const ThemeSource& themes, QWidget* parent = nullptr);
    /// Names the colouring; hidden where there is no document.
    void setChoice(const DocumentPtr& document, CardLooks looks);

signals:
    void chosen(tenon::views::CardLooks looks);

private:
    void choose();

    DocumentPtr m_document;
    CardLooks m_looks;
};

} // namespace tenon::views
