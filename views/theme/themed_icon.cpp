// SPDX-License-Identifier: GPL-3.0-or-later
// Bundled icons, drawn in the colour that the theme asks for.
#include "views/theme/theme_source.h"

#include <QPainter>
#include <QPixmap>

static void initIconResources() { Q_INIT_RESOURCE(icons); }

namespace tenon::views {

QIcon themedIcon(const QString& name, const QColor& colour)
{
    initIconResources();
    const QIcon source(QStringLiteral(":/icons/") + name + QStringLiteral(".svg"));
    if (name == QLatin1String("tenon")) return source; // the mark keeps its own colours
    constexpr int kSize = 48;                          // enough for three times the size in use
    QPixmap pixmap = source.pixmap(kSize, kSize);
    if (pixmap.isNull()) return source;
    QPainter painter(&pixmap);
    painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
    painter.fillRect(pixmap.rect(), colour);
    painter.end();
    return QIcon(pixmap);
}

} // namespace tenon::views
