// SPDX-License-Identifier: GPL-3.0-or-later
// Trail: where one was in the window, to go back and forth like in a browser.
#pragma once

#include "core/ir/node.h"

#include <QObject>
#include <QString>

#include <functional>
#include <vector>

namespace tenon::app {

/// A page, the pass it shows and the node that is selected.
struct TrailPlace
{
    QString perspective;
    int version = 0;
    core::NodeId node;
};

class Trail : public QObject
{
    Q_OBJECT
public:
    using Here = std::function<TrailPlace()>;
    using Go = std::function<void(const TrailPlace&)>;

    Trail(Here here, Go go, QObject* parent);

    bool canStep(int by) const;

public slots:
    /// Remembers where one is now; stepping through passes alone is no new place.
    void note();
    void step(int by);
    /// Another model: its nodes are not those of the places.
    void clear();

private:
    Here m_here;
    Go m_go;
    std::vector<TrailPlace> m_places;
    size_t m_at = 0; ///< index of the place where one is
    bool m_isGoing = false;
};

} // namespace tenon::app
