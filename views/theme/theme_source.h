// SPDX-License-Identifier: GPL-3.0-or-later
// ThemeSource: the theme in use and the news that it changed; passed to every widget that paints.
#pragma once

#include "views/theme/theme.h"

#include <QIcon>
#include <QObject>

namespace tenon::views {

class ThemeSource : public QObject
{
    Q_OBJECT
public:
    explicit ThemeSource(bool isDark, QObject* parent = nullptr)
        : QObject(parent)
        , m_theme(loadTheme(isDark))
    {
    }

    const Theme& theme() const { return m_theme; }
    void setDark(bool isDark)
    {
        if (isDark == m_theme.isDark) return;
        m_theme = loadTheme(isDark);
        emit changed();
    }

signals:
    void changed();

private:
    Theme m_theme;
};

/// A bundled icon (its name without folder and ending) in `colour`.
QIcon themedIcon(const QString& name, const QColor& colour);

} // namespace tenon::views
