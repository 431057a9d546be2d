// SPDX-License-Identifier: GPL-3.0-or-later
// The registry of actions.
#include "views/pages/common/actions.h"

#include "core/base/check.h"

#include <QWidget>

#include <algorithm>

namespace tenon::views {

void Actions::add(ActionSpec spec, QWidget* window)
{
    auto* action = new QAction(spec.text, this);
    action->setObjectName(spec.id);
    action->setToolTip(spec.tip);
    if (!spec.isLocal && !spec.keys.isEmpty()) {
        QList<QKeySequence> sequences;
        for (const QString& keys : spec.keys.split(QStringLiteral(", ")))
            sequences << QKeySequence(keys);
        action->setShortcuts(sequences);
        action->setShortcutContext(Qt::WindowShortcut);
    }
    if (spec.run) connect(action, &QAction::triggered, this, spec.run);
    window->addAction(action);
    m_specs.push_back(std::move(spec));
    m_actions.push_back(action);
}

bool Actions::has(const QString& id) const
{
    return std::any_of(m_specs.begin(), m_specs.end(),
                       [&](const ActionSpec& spec) { return spec.id == id; });
}

QAction* Actions::action(const QString& id) const
{
    for (size_t i = 0; i < m_specs.size(); ++i)
        if (m_specs[i].id == id) return m_actions[i];
    CHECK(false) << "no action `" << id.toStdString() << "`";
    return nullptr;
}

void Actions::refresh()
{
    for (size_t i = 0; i < m_specs.size(); ++i)
        if (m_specs[i].canRun) m_actions[i]->setEnabled(m_specs[i].canRun());
}

} // namespace tenon::views
