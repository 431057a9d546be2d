// SPDX-License-Identifier: GPL-3.0-or-later
// Overlays over the window: command palette, shortcut sheet, log.
#pragma once

#include "views/pages/common/panel.h"

#include <QAbstractListModel>
#include <QLineEdit>
#include <QListView>
#include <QPlainTextEdit>
#include <QPointer>

#include <functional>

namespace tenon::views {

/// A panel in the upper middle of the window; Escape or a click outside closes it.
class Overlay : public QWidget
{
    Q_OBJECT
public:
    Overlay(const ThemeSource& themes, QWidget* window, QSize size);
    void open();
    void close();

signals:
    void closed();

protected:
    Panel& panel() { return *m_panel; }
    const ThemeSource& themes() const { return m_themes; }
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void place();
    void keepFocus(const QWidget* now);
    const ThemeSource& m_themes;
    Panel* m_panel;
    QSize m_size;
    QPointer<QWidget> m_focusBefore;
};

/// All that are open over `window`.
void closeSheets(QWidget& window);

struct PaletteEntry
{
    QString text;
    QString detail; ///< shortcut or kind
    std::function<void()> run;
    bool isEnabled = true;
};

/// Entries of one kind, made when the palette is opened; `prefix` restricts to it.
struct PaletteSource
{
    QChar prefix;
    std::function<std::vector<PaletteEntry>()> entries;
};

class PaletteModel : public QAbstractListModel
{
    Q_OBJECT
public:
    using QAbstractListModel::QAbstractListModel;
    void setSources(std::vector<PaletteSource> sources) { m_sources = std::move(sources); }
    void load();
    void setQuery(const QString& query);
    const PaletteEntry* entry(int row) const;
    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    std::vector<PaletteSource> m_sources;
    std::vector<std::pair<QChar, std::vector<PaletteEntry>>> m_loaded;
    std::vector<const PaletteEntry*> m_shown;
};

class CommandPalette : public Overlay
{
    Q_OBJECT
public:
    CommandPalette(const ThemeSource& themes, QWidget* window, std::vector<PaletteSource> sources);
    void openWith(const QString& text);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void runCurrent();
    QLineEdit* m_query;
    QListView* m_list;
    PaletteModel* m_model;
};

/// Rows of (group, action, keys).
class ShortcutSheet : public Overlay
{
    Q_OBJECT
public:
    struct Row
    {
        QString group;
        QString text;
        QString keys;
    };
    ShortcutSheet(const ThemeSource& themes, QWidget* window, const std::vector<Row>& rows);
};

class LogSheet : public Overlay
{
    Q_OBJECT
public:
    LogSheet(const ThemeSource& themes, QWidget* window);
    void setLog(const QStringList& lines);

private:
    QPlainTextEdit* m_text;
};

} // namespace tenon::views
