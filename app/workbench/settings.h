// SPDX-License-Identifier: GPL-3.0-or-later
// Settings: what the window remembers between runs, as a plain value.
#pragma once

#include "core/base/result.h"

#include <QByteArray>
#include <QPointF>
#include <QString>
#include <QStringList>

#include <map>

namespace tenon::app {

enum class ThemeChoice
{
    Automatic, ///< as the desktop's palette
    Light,
    Dark
};

/// Where a graph was looked at.
struct SavedCamera
{
    double zoom = 0;
    QPointF centre;
    friend bool operator==(const SavedCamera&, const SavedCamera&) = default;
};

/// What was open when the window was closed.
struct Session
{
    QString model;  ///< path; empty: the start page
    QString shapes; ///< bindings of its open sizes
    bool isCompiled = false;
    QString perspective;
    QString pass;
    QString node; ///< name of the selected node
    QString planner;
    QString board;
    QString budget; ///< of a benchmark, as it was typed; empty: the usual one
    std::map<QString, SavedCamera> cameras; ///< of the pages with a graph that was there
    friend bool operator==(const Session&, const Session&) = default;
};

/// How the files that a model was tried on became its input.
struct SampleHabit
{
    QString preprocessing;
    QString labels;
    friend bool operator==(const SampleHabit&, const SampleHabit&) = default;
};

struct Settings
{
    ThemeChoice theme = ThemeChoice::Automatic;
    QStringList recents; ///< newest first
    QString target = QStringLiteral("llvm -mcpu=native");
    QByteArray geometry;
    bool isMotionReduced = false;
    Session session;
    std::map<QString, SampleHabit> samples; ///< by the model's path
    QString problem;                        ///< why the file could not be used; never saved

    static constexpr int kRecents = 12;
    static constexpr int kSamples = 100; ///< models whose habits are kept
    void addRecent(const QString& path);
    /// What another window learned: models that it opened, and what their files became.
    void takeOver(const Settings& other);
    void keepSample(const QString& model, const SampleHabit& habit);
};

/// The file in the user's configuration folder.
QString settingsPath();
/// A missing file gives the defaults. A damaged one too: it is put aside, and `problem` says so.
/// Values of the wrong kind are left at their defaults.
Settings loadSettings(const QString& path);
/// The file is replaced as a whole or stays as it was.
core::Status saveSettings(const Settings& settings, const QString& path);

} // namespace tenon::app
