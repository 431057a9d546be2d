// SPDX-License-Identifier: GPL-3.0-or-later
// FindField: a search field that says how many were found, and which of them is shown.
#pragma once

#include "views/theme/theme_source.h"

#include <QLineEdit>

namespace tenon::views {

class FindField : public QLineEdit
{
    Q_OBJECT
public:
    explicit FindField(const ThemeSource& themes, QWidget* parent = nullptr);

    struct Found
    {
        bool isSought = false;
        int count = 0;
        int shown = 0; ///< from 1 on; 0: none of them
    };
    void setFound(Found found);
    /// "2/9", "9", "none"; empty where nothing is sought.
    QString note() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int noteWidth() const;
    const ThemeSource& m_themes;
    Found m_found;
};

} // namespace tenon::views
