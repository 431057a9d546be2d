// SPDX-License-Identifier: GPL-3.0-or-later
// Columns: panels side by side. Those at the sides keep their width, but in a small window they
// give way to the one that matters, until one drags them.
#pragma once

#include <QSplitter>

#include <vector>

namespace tenon::views {

class Columns : public QSplitter
{
    Q_OBJECT
public:
    struct Part
    {
        QWidget* widget;
        int width; ///< in a roomy window; 0: what the others leave
    };
    explicit Columns(const std::vector<Part>& parts, QWidget* parent = nullptr);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    std::vector<int> m_widths;
    bool m_isDragged = false;
};

/// Parts with the gutter between them, none of which can be dragged away.
QSplitter* makeSplitter(Qt::Orientation orientation, std::initializer_list<QWidget*> parts,
                        const QList<int>& sizes);
/// `content` becomes all of `page`.
void fillWith(QWidget& page, QWidget* content);

} // namespace tenon::views
