// SPDX-License-Identifier: GPL-3.0-or-later
// The start page: open, drop, sample model, recent files.
#pragma once

#include "views/pages/common/panel.h"
#include "views/pages/common/pill_tabs.h"

namespace tenon::views {

class StartPage : public QWidget
{
    Q_OBJECT
public:
    explicit StartPage(const ThemeSource& themes, QWidget* parent = nullptr);
    void setRecents(const QStringList& paths);
    void setSample(const QString& path);

signals:
    void openRequested();
    void pathChosen(QString path);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const ThemeSource& m_themes;
    QString m_sample;
    Panel* m_recents;
    QVBoxLayout* m_recentRows;
    PillButton* m_sampleButton;
};

} // namespace tenon::views
