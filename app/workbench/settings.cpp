// SPDX-License-Identifier: GPL-3.0-or-later
// Settings in the XDG configuration folder.
#include "app/workbench/settings.h"

#include <QSettings>

namespace tenon::app {

namespace {

QSettings store()
{
    return QSettings(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("tenon"),
                     QStringLiteral("workbench"));
}

} // namespace

void Settings::addRecent(const QString& path)
{
    recents.removeAll(path);
    recents.prepend(path);
    while (recents.size() > kRecents) recents.removeLast();
}

Settings loadSettings(bool isolated)
{
    Settings settings;
    if (isolated) return settings;
    const QSettings saved = store();
    const QString theme = saved.value(QStringLiteral("theme")).toString();
    settings.theme = theme == QLatin1String("dark")    ? ThemeChoice::Dark
                     : theme == QLatin1String("light") ? ThemeChoice::Light
                                                       : ThemeChoice::Automatic;
    settings.recents = saved.value(QStringLiteral("recents")).toStringList();
    settings.target = saved.value(QStringLiteral("target"), settings.target).toString();
    settings.geometry = saved.value(QStringLiteral("geometry")).toByteArray();
    settings.isMotionReduced = saved.value(QStringLiteral("reduceMotion"), false).toBool();
    return settings;
}

void saveSettings(const Settings& settings, bool isolated)
{
    if (isolated) return;
    QSettings saved = store();
    saved.setValue(QStringLiteral("theme"),
                   settings.theme == ThemeChoice::Dark    ? QStringLiteral("dark")
                   : settings.theme == ThemeChoice::Light ? QStringLiteral("light")
                                                          : QStringLiteral("auto"));
    saved.setValue(QStringLiteral("recents"), settings.recents);
    saved.setValue(QStringLiteral("target"), settings.target);
    saved.setValue(QStringLiteral("geometry"), settings.geometry);
    saved.setValue(QStringLiteral("reduceMotion"), settings.isMotionReduced);
}

} // namespace tenon::app
