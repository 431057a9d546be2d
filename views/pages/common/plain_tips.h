// SPDX-License-Identifier: GPL-3.0-or-later
// PlainTips: tool tips show what they are given, letter by letter: names out of files are no HTML,
// and no tip is longer than the screen.
#pragma once

#include <QObject>
#include <QString>

namespace tenon::views {

/// As a tool tip shows it as it is; what is endless ends with an ellipsis.
QString plainTip(const QString& text);

/// Answers the questions for tool tips of the window that it is made for, and of its tables.
class PlainTips : public QObject
{
    Q_OBJECT
public:
    explicit PlainTips(QWidget* window);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* m_window;
};

} // namespace tenon::views
