// SPDX-License-Identifier: GPL-3.0-or-later
// Morph: how the items of one scene become those of the next, as a function of time.
#pragma once

#include "views/canvas/spatial_grid.h"
#include "views/scene/scene.h"

#include <unordered_map>

namespace tenon::views {

/// A scene with the grids that find its visible parts.
struct SceneIndex
{
    ScenePtr scene;
    SpatialGrid items;
    SpatialGrid edges;

    explicit SceneIndex(ScenePtr indexed);
};

/// Built for the visible part only, so that its cost does not grow with the model. Cards that stay
/// slide, a new frame grows around its members, what leaves drains into its reader.
class Morph
{
public:
    Morph();
    Morph(SceneIndex old, const Scene& now, const QRectF& area);

    bool isRunning() const { return m_time < 1; }
    void setTime(double time) { m_time = time; }
    double time() const { return m_time; } ///< 0 to 1
    const SceneIndex& old() const { return m_old; }
    /// Where an item of the new scene stands now, and how much of it is there.
    QRectF rectOf(uint32_t item, const QRectF& target) const;
    double opacityOf(uint32_t item) const;

    struct Leaving
    {
        SceneItem item;
        QRectF target;
    };
    const std::vector<Leaving>& leaving() const { return m_leaving; }

private:
    void addComing(const Scene& now, uint32_t item);
    void addLeaving(const Scene& now, uint32_t item);

    SceneIndex m_old;
    std::unordered_map<uint32_t, QRectF> m_start; ///< of items that move
    std::unordered_map<uint32_t, bool> m_isNew;   ///< of items that appear
    std::vector<Leaving> m_leaving;
    double m_time = 1;
};

} // namespace tenon::views
