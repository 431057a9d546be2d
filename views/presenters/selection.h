// SPDX-License-Identifier: GPL-3.0-or-later
// Selection: the node that all pages look at; pages observe it, presenters set it.
#pragma once

#include "core/ir/node.h"

#include <QObject>

namespace tenon::views {

class Selection : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;

    core::NodeId node() const { return m_node; }
    /// Setting the same node again does nothing; an invalid id clears.
    void select(core::NodeId node)
    {
        if (node == m_node) return;
        m_node = node;
        emit changed(node);
    }
    /// Selects and asks to bring it into view, even when it was selected before.
    void seek(core::NodeId node)
    {
        select(node);
        if (node.isValid()) emit sought(node);
    }

public slots:
    /// The node of a table's row.
    void seekRow(qint64 node) { seek(core::NodeId(static_cast<uint32_t>(node))); }

signals:
    void changed(tenon::core::NodeId node);
    void sought(tenon::core::NodeId node);

private:
    core::NodeId m_node;
};

} // namespace tenon::views
