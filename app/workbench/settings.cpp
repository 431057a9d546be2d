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

#include <algorithm>
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

QJsonObject samplesJson(const std::map<QString, SampleHabit>& samples)
{
    QJsonObject object;
    for (const auto& [model, habit] : samples)
        object[model] = QJsonObject{{QStringLiteral("preprocess"), habit.preprocessing},
                                    {QStringLiteral("labels"), habit.labels}};
    return object;
}

std::map<QString, SampleHabit> readSamples(const QJsonValue& value)
{
    std::map<QString, SampleHabit> samples;
    const QJsonObject object = value.toObject();
    for (const QString& model : object.keys()) {
        const QJsonObject habit = object[model].toObject();
        samples[model] = {habit[QLatin1String("preprocess")].toString(),
                          habit[QLatin1String("labels")].toString()};
    }
    return samples;
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
    settings.samples = readSamples(object[QLatin1String("samples")]);
    return settings;
}

/// A later version's file would lose what this one does not know: a copy of it stays.
void keepNewer(const QString& path, int version, Settings& settings)
{
    const QString aside = path + QStringLiteral(".newer");
    QFile::remove(aside);
    const bool isKept = QFile::copy(path, aside);
    settings.problem =
        QStringLiteral("the settings in %1 are of a later version (%2, this one "
                       "writes %3): what this version knows of them is in "
                       "force%4")
            .arg(path)
            .arg(version)
            .arg(kVersion)
            .arg(isKept ? QStringLiteral(", the whole file is kept as %1").arg(aside) : QString());
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

void Settings::takeOver(const Settings& other)
{
    for (const QString& path : other.recents)
        if (!recents.contains(path) && recents.size() < kRecents) recents.append(path);
    for (const auto& [model, habit] : other.samples)
        if (static_cast<int>(samples.size()) < kSamples) samples.try_emplace(model, habit);
}

/// Beyond the limit one of a file that is gone goes first.
void Settings::keepSample(const QString& model, const SampleHabit& habit)
{
    samples[model] = habit;
    while (static_cast<int>(samples.size()) > kSamples) {
        auto least = std::find_if(samples.begin(), samples.end(), [&](const auto& sample) {
            return sample.first != model && !QFileInfo::exists(sample.first);
        });
        if (least == samples.end()) least = samples.begin();
        if (least->first == model) ++least;
        samples.erase(least);
    }
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
    Settings settings = readObject(document.object());
    const int version = document.object()[QLatin1String("version")].toInt(kVersion);
    if (version > kVersion) keepNewer(path, version, settings);
    return settings;
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
        {QStringLiteral("samples"), samplesJson(settings.samples)},
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
