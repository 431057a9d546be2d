// SPDX-License-Identifier: GPL-3.0-or-later
// DropHint: covers the window while a file is dragged over it and says what dropping it does.
#pragma once

#include "views/theme/theme_source.h"

#include <QWidget>

namespace tenon::views {

class DropHint : public QWidget
{
    Q_OBJECT
public:
    /// Takes what is dragged over `window` or dropped there.
    DropHint(const ThemeSource& themes, QWidget* window);
    const QString& text() const { return m_text; }

signals:
    void dropped(QString path);

protected:
    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void say(const QStringList& files);

    const ThemeSource& m_themes;
    QString m_text;
};

} // namespace tenon::views
