// SPDX-License-Identifier: GPL-3.0-or-later
// The places behind and, until one goes elsewhere, those ahead.
#include "app/workbench/trail.h"

namespace tenon::app {

namespace {

constexpr size_t kLongest = 200;

} // namespace

Trail::Trail(Here here, Go go, QObject* parent)
    : QObject(parent)
    , m_here(std::move(here))
    , m_go(std::move(go))
{
}

bool Trail::canStep(int by) const { return by < 0 ? m_at > 0 : m_at + 1 < m_places.size(); }

void Trail::note()
{
    if (m_isGoing) return;
    TrailPlace here = m_here();
    if (here.perspective.isEmpty()) return; // the start page
    if (m_at < m_places.size()) {
        TrailPlace& last = m_places[m_at];
        if (last.perspective == here.perspective && last.node == here.node) {
            last.version = here.version;
            return;
        }
        m_places.resize(m_at + 1);
    }
    if (m_places.size() == kLongest) m_places.erase(m_places.begin());
    m_places.push_back(std::move(here));
    m_at = m_places.size() - 1;
}

void Trail::step(int by)
{
    if (!canStep(by)) return;
    m_isGoing = true; // going there is no news
    m_places[m_at].version = m_here().version;
    m_at = by < 0 ? m_at - 1 : m_at + 1;
    m_go(TrailPlace(m_places[m_at]));
    m_isGoing = false;
}

void Trail::clear()
{
    m_places.clear();
    m_at = 0;
    note();
}

} // namespace tenon::app
