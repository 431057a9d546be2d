// SPDX-License-Identifier: GPL-3.0-or-later
// A menu of what the document has figures of.
#include "views/pages/common/colour_button.h"

#include "views/pages/common/popup_menu.h"

namespace tenon::views {

ColourButton::ColourButton(const ThemeSource& themes, QWidget* parent)
    : PillButton(themes, Look::Quiet, tr("Colour"), parent)
{
    setToolTip(tr("What the cards are coloured by, and the figure on them (C)"));
    hide();
    connect(this, &QPushButton::clicked, this, &ColourButton::choose);
}

void ColourButton::setChoice(const DocumentPtr& document, CardLooks looks)
{
    m_document = document;
    m_looks = looks;
    setText(looks.isColoured ? tr("Colour: %1").arg(colouringText(looks)) : tr("Colour"));
    setVisible(document != nullptr);
    updateGeometry();
}

void ColourButton::choose()
{
    if (!m_document) return;
    QMenu* menu = makePopupMenu(this);
    const auto add = [&](const QString& text, CardLooks looks, bool isChosen) {
        QAction* action = menu->addAction(text, this, [this, looks] { emit chosen(looks); });
        action->setCheckable(true);
        action->setChecked(isChosen);
    };
    for (CardLooks looks : colourings(*m_document)) {
        looks.hasLegend = true;
        const bool isChosen = looks.isColoured == m_looks.isColoured &&
                              (!looks.isColoured || looks.figure == m_looks.figure);
        add(tr("By %1").arg(colouringText(looks)), looks, isChosen);
    }
    if (canChooseFigure(*m_document)) {
        menu->addSeparator();
        for (const CardFigure figure : {CardFigure::Time, CardFigure::Error})
            add(tr("By type, with the %1").arg(colouringText({figure, true})), figure,
                !m_looks.isColoured && m_looks.figure == figure);
    }
    menu->popup(mapToGlobal(QPoint(0, height() + 4)));
}

} // namespace tenon::views
