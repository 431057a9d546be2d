// SPDX-License-Identifier: GPL-3.0-or-later
// Actions: every command of the window with id, text, icon, keys and tip; menus, palette and the
// shortcut sheet are built from them.
#pragma once

#include <QAction>
#include <QObject>
#include <QString>

#include <functional>
#include <vector>

namespace tenon::views {

/// Where a page's action acts; the window's own act anywhere.
enum class ActsOn : uint8_t
{
    AnyPage,   ///< also while another page is looked at
    ItsPage,   ///< which comes to the front first
    ShownPage, ///< only while its page is looked at
};

struct ActionSpec
{
    QString id;
    QString group;
    QString text;
    QString icon; ///< bundled icon name, or empty
    QString keys; ///< portable text; several separated by ", "
    QString tip;
    std::function<void()> run; ///< empty: a gesture, listed for its keys only
    bool isLocal = false;      ///< keys act on the page, letters anywhere on it, others in a pane
    std::function<bool()> canRun; ///< empty: always
    ActsOn actsOn = ActsOn::AnyPage;
};

/// Owns the QActions; looked up by id.
class Actions : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;

    void add(ActionSpec spec, QWidget* window);
    const std::vector<ActionSpec>& specs() const { return m_specs; }
    bool has(const QString& id) const;
    QAction* action(const QString& id) const;
    /// Asks each whether it can run now.
    void refresh();

private:
    std::vector<ActionSpec> m_specs;
    std::vector<QAction*> m_actions; ///< parallel to m_specs
};

} // namespace tenon::views
