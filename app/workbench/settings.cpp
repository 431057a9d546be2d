// SPDX-License-Identifier: GPL-3.0-or-later
// Settings as one JSON file.
#include "app/workbench/settings.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QStandardPaths>

#include <cmath>
#include <optional>

namespace tenon::app {

namespace {

constexpr int kVersion = 1;
constexpr QLatin1String kCamera("Camera"); ///< behind a page's name
constexpr qint64 kMostBytes = 1 << 20;     ///< nothing that we write comes near it

const std::pair<ThemeChoice, QLatin1String> kThemes[] = {
    {ThemeChoice::Automatic, QLatin1String("auto")},
    {ThemeChoice::Light, QLatin1String("light")},
    {ThemeChoice::Dark, QLatin1String("dark")}};

QJsonObject cameraJson(const SavedCamera& camera)
{
    return {{QStringLiteral("zoom"), camera.zoom},
            {QStringLiteral("x"), camera.centre.x()},
            {QStringLiteral("y"), camera.centre.y()}};
}

std::optional<SavedCamera> readCamera(const QJsonValue& value)
{
    const QJsonObject object = value.toObject();
    SavedCamera camera{
        object[QLatin1String("zoom")].toDouble(),
        {object[QLatin1String("x")].toDouble(), object[QLatin1String("y")].toDouble()}};
    const bool isUsable = std::isfinite(camera.zoom) && camera.zoom > 0 && camera.zoom < 1000 &&
                          std::isfinite(camera.centre.x()) && std::isfinite(camera.centre.y());
    return isUsable ? std::optional(camera) : std::nullopt;
}

QJsonObject sessionJson(const Session& session)
{
    QJsonObject object{{QStringLiteral("model"), session.model},
                       {QStringLiteral("shapes"), session.shapes},
                       {QStringLiteral("compiled"), session.isCompiled},
                       {QStringLiteral("perspective"), session.perspective},
                       {QStringLiteral("pass"), session.pass},
                       {QStringLiteral("node"), session.node},
                       {QStringLiteral("planner"), session.planner},
                       {QStringLiteral("board"), session.board},
                       {QStringLiteral("budget"), session.budget}};
    for (const auto& [page, camera] : session.cameras) object[page + kCamera] = cameraJson(camera);
    return object;
}

Session readSession(const QJsonValue& value)
{
    const QJsonObject object = value.toObject();
    const auto text = [&](const char* name) { return object[QLatin1String(name)].toString(); };
    Session session{text("model"),
                    text("shapes"),
                    object[QLatin1String("compiled")].toBool(),
                    text("perspective"),
                    text("pass"),
                    text("node"),
                    text("planner"),
                    text("board"),
                    text("budget"),
                    {}};
    for (const QString& key : object.keys())
        if (const auto camera = readCamera(object[key]); camera && key.endsWith(kCamera))
            session.cameras[key.chopped(kCamera.size())] = *camera;
    return session;
}

Settings readObject(const QJsonObject& object)
{
    Settings settings;
    const QString theme = object[QLatin1String("theme")].toString();
    for (const auto& [choice, name] : kThemes)
        if (theme == name) settings.theme = choice;
    const QJsonArray recents = object[QLatin1String("recents")].toArray();
    for (const QJsonValue& path : recents)
        if (!path.toString().isEmpty() && settings.recents.size() < Settings::kRecents)
            settings.recents << path.toString();
    settings.target = object[QLatin1String("target")].toString(settings.target);
    settings.geometry =
        QByteArray::fromBase64(object[QLatin1String("geometry")].toString().toLatin1());
    settings.isMotionReduced = object[QLatin1String("reduceMotion")].toBool();
    settings.session = readSession(object[QLatin1String("session")]);
    return settings;
}

/// The defaults, with the damaged file kept beside its place for whoever wants to look.
Settings afterDamage(const QString& path, const QString& why)
{
    const QString aside = path + QStringLiteral(".damaged");
    QFile::remove(aside);
    const bool isKept = QFile::rename(path, aside);
    Settings settings;
    settings.problem =
        QStringLiteral("the settings in %1 could not be read: %2; starting with "
                       "the defaults%3")
            .arg(path, why, isKept ? QStringLiteral(", the old file is %1").arg(aside) : QString());
    return settings;
}

} // namespace

void Settings::addRecent(const QString& path)
{
    recents.removeAll(path);
    recents.prepend(path);
    while (recents.size() > kRecents) recents.removeLast();
}

QString settingsPath()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) +
           QStringLiteral("/tenon/workbench.json");
}

Settings loadSettings(const QString& path)
{
    QFile file(path);
    if (!file.exists()) return {};
    if (!file.open(QIODevice::ReadOnly)) {
        Settings settings;
        settings.problem = QStringLiteral("the settings in %1 could not be read: %2")
                               .arg(path, file.errorString());
        return settings;
    }
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(file.read(kMostBytes), &error);
    file.close();
    if (error.error != QJsonParseError::NoError) return afterDamage(path, error.errorString());
    if (!document.isObject()) return afterDamage(path, QStringLiteral("it is no JSON object"));
    return readObject(document.object());
}

core::Status saveSettings(const Settings& settings, const QString& path)
{
    QString theme;
    for (const auto& [choice, name] : kThemes)
        if (choice == settings.theme) theme = name;
    const QJsonObject object{
        {QStringLiteral("version"), kVersion},
        {QStringLiteral("theme"), theme},
        {QStringLiteral("recents"), QJsonArray::fromStringList(settings.recents)},
        {QStringLiteral("target"), settings.target},
        {QStringLiteral("geometry"), QString::fromLatin1(settings.geometry.toBase64())},
        {QStringLiteral("reduceMotion"), settings.isMotionReduced},
        {QStringLiteral("session"), sessionJson(settings.session)}};
    QDir().mkpath(QFileInfo(path).path());
    QSaveFile file(path);
    const QByteArray bytes = QJsonDocument(object).toJson();
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        return core::makeError(core::DiagnosticCode::IoFailure,
                               "the settings could not be saved in " + path.toStdString() + ": " +
                                   file.errorString().toStdString());
    return core::kDone;
}

} // namespace tenon::app
