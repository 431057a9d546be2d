// SPDX-License-Identifier: GPL-3.0-or-later
// Switching between a picture and its table.
#include "views/pages/common/table_twin.h"

namespace tenon::views {

TableTwin::TableTwin(const ThemeSource& themes, QWidget* picture, QAbstractItemModel* model,
                     const QString& name, QWidget* parent)
    : QStackedWidget(parent)
    , m_name(name)
    , m_table(new DataTable(themes, model))
    , m_exhibit(new Exhibit(*picture, model))
    , m_button(new PillButton(themes, PillButton::Look::Quiet, tr("Table")))
{
    m_table->setAccessibleName(tr("%1 as a table").arg(picture->accessibleName()));
    m_button->setToolTip(tr("The same facts as a table"));
    addWidget(picture);
    addWidget(m_table);
    setMinimumHeight(picture->minimumHeight()); // a stack that is hidden does not ask its pages
    m_exhibit->addCommand({tr("Show as a table"), [this] { toggle(); }});
    Exhibit::of(*m_table)->addCommand(
        {tr("Show as a picture"), [this] { toggle(); }, [this] { return isTable(); }});
    connect(m_button, &QPushButton::clicked, this, &TableTwin::toggle);
}

void TableTwin::toggle()
{
    setCurrentIndex(1 - currentIndex());
    m_button->setText(isTable() ? m_name : tr("Table"));
    currentWidget()->setFocus();
    updateGeometry();
    emit toggled();
}

} // namespace tenon::views
