// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the listed pages.
#include "views/pages/page.h"

#include <algorithm>

namespace tenon::views {

std::vector<Page> makePages(const PageContext& context)
{
    std::vector<Page> pages;
#define TENON_PAGE(Name) pages.push_back(make##Name##Page(context));
#include "views/pages/pages.def"
#undef TENON_PAGE
    return pages;
}

const Page& pageOfModel(const std::vector<Page>& pages)
{
    return *std::find_if(pages.begin(), pages.end(),
                         [](const Page& page) { return page.canvas != nullptr; });
}

const Page& pageOfSteps(const std::vector<Page>& pages)
{
    return *std::find_if(pages.begin(), pages.end(),
                         [](const Page& page) { return page.showsSteps; });
}

ActionSpec tableAction(std::function<void()> toggle)
{
    const QString text = QObject::tr("Switch between graph and table");
    return {.id = QStringLiteral("table"),
            .group = QObject::tr("Graph"),
            .text = text,
            .keys = QStringLiteral("T"),
            .tip = text,
            .run = std::move(toggle),
            .isLocal = true,
            .actsOn = ActsOn::ShownPage};
}

ActionSpec figuresAction(std::function<void()> toggle)
{
    const QString text = QObject::tr("Times or expected errors on the cards");
    return {.id = QStringLiteral("figures"),
            .group = QObject::tr("Graph"),
            .text = text,
            .keys = QStringLiteral("E"),
            .tip = text,
            .run = std::move(toggle),
            .isLocal = true,
            .actsOn = ActsOn::ShownPage};
}

ActionSpec colourAction(std::function<void()> next)
{
    const QString text = QObject::tr("Colour cards by type, time, MACs, bytes, share of the bound");
    return {.id = QStringLiteral("colour"),
            .group = QObject::tr("Graph"),
            .text = text,
            .keys = QStringLiteral("C"),
            .tip = text,
            .run = std::move(next),
            .isLocal = true,
            .actsOn = ActsOn::ShownPage};
}

ActionSpec wrapAction(std::function<void()> toggle)
{
    return {.id = QStringLiteral("wrap"),
            .group = QObject::tr("Graph"),
            .text = QObject::tr("Wrap long chains into columns, or put them in one line again"),
            .tip = QObject::tr("Columns side by side, read downwards and then to the right, so "
                               "that all of the graph is seen together"),
            .run = std::move(toggle),
            .actsOn = ActsOn::ShownPage};
}

} // namespace tenon::views
