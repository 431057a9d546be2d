// SPDX-License-Identifier: GPL-3.0-or-later
// DropHint: covers the window while a file is dragged over it and says what dropping it does.
#pragma once

#include "views/theme/theme_source.h"

#include <QWidget>

#include <functional>

namespace tenon::views {

class DropHint : public QWidget
{
    Q_OBJECT
public:
    /// Takes what is dragged over `window` or dropped there.
    DropHint(const ThemeSource& themes, QWidget* window);
    const QString& text() const { return m_text; }
    /// What dropping a file does, where it is not opening it; "" for what is opened.
    void setPurpose(std::function<QString(const QString& file)> purpose)
    {
        m_purpose = std::move(purpose);
    }

signals:
    void dropped(QString path);

protected:
    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void say(const QStringList& files);

    const ThemeSource& m_themes;
    std::function<QString(const QString&)> m_purpose;
    QString m_text;
};

} // namespace tenon::views
