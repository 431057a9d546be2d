// SPDX-License-Identifier: GPL-3.0-or-later
// Exhibit: what one can do with a table, a list, a chart or a graph wherever it stands: copy it,
// write it to a file, and go from what it shows to the same thing on another page.
#pragma once

#include "core/base/result.h"
#include "views/presenters/selection.h"

#include <QMenu>
#include <QModelIndexList>
#include <QObject>
#include <QPainter>
#include <QStringList>

#include <functional>
#include <memory>
#include <vector>

class QAbstractItemModel;
class QAbstractItemView;

namespace tenon::views {

/// From a node that is shown somewhere to another page's part that shows it, too.
struct NodeJump
{
    QString text;
    std::function<bool(core::NodeId)> canGo;
    std::function<void(core::NodeId)> go;
};

/// Something that is to be written where the user says.
struct Export
{
    QString title; ///< of the question
    QString name;  ///< of the file that is proposed
    QStringList filters;
    std::function<core::Status(const QString& path)> write;
};

/// What all exhibits of a window share.
struct ExhibitHost
{
    std::vector<NodeJump> jumps;
    std::function<void(const Export&)> ask;
};

class Exhibit : public QObject
{
    Q_OBJECT
public:
    struct Picture
    {
        std::function<QSizeF()> size;
        std::function<void(QPainter&)> paint;
    };
    struct Command
    {
        QString text;
        std::function<void()> run;
        std::function<bool()> canRun = {}; ///< empty: always
    };

    /// Of a view, which owns it: its rows lead to nodes by their NodeRole.
    explicit Exhibit(QAbstractItemView& view);
    /// Of a picture, which owns it; `rows` are its facts, null where no table has them.
    Exhibit(QWidget& picture, QAbstractItemModel* rows);
    /// Null: nobody made one.
    static Exhibit* of(const QWidget& shown);

    void setHost(std::shared_ptr<const ExhibitHost> host) { m_host = std::move(host); }
    /// Else it is painted as it stands in the window.
    void setPicture(Picture picture) { m_picture = std::move(picture); }
    /// Selects what is at a position of the widget, and says which node that is.
    void setNodeAt(std::function<core::NodeId(QPoint)> nodeAt) { m_nodeAt = std::move(nodeAt); }
    /// What Ctrl+C takes of a picture; else the picture itself.
    void setCopied(std::function<QString()> text) { m_copied = std::move(text); }
    /// Before the rows are read: a twin that is not looked at may be empty.
    void setFill(std::function<void()> fill) { m_fill = std::move(fill); }
    void addCommand(Command command) { m_commands.push_back(std::move(command)); }

    QString title() const; ///< the widget's accessible name
    bool hasRows() const { return m_rows != nullptr; }
    void copy() const;
    QString csv() const;
    /// By the suffix: .csv, .png or .svg.
    core::Status write(const QString& path) const;
    /// What the right button opens there; deletes itself when closed.
    QMenu* makeMenu(QPoint position);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    core::NodeId nodeAt(QPoint position) const;
    void addJumps(QMenu& menu, core::NodeId node) const;
    void addSorting(QMenu& menu) const;
    void askFor(const QString& suffix, const QStringList& filters) const;
    QModelIndexList selectedRows() const;

    QWidget& m_shown;
    QAbstractItemView* m_view = nullptr;
    QAbstractItemModel* m_rows = nullptr;
    std::shared_ptr<const ExhibitHost> m_host; ///< null: outside of a window
    Picture m_picture;
    std::function<core::NodeId(QPoint)> m_nodeAt;
    std::function<QString()> m_copied;
    std::function<void()> m_fill;
    std::vector<Command> m_commands;
};

} // namespace tenon::views
