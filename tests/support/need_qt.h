// SPDX-License-Identifier: Apache-2.0
// What a test of the window needs, in Qt Test's words: skipped by name, or failed where
// TENON_REQUIRE lists the name. Macros because QSKIP must stand in the test's own body.
#pragma once

#include "tests/support/environment.h"

#include <QTest>

#define NEED(isThere, name, reason)                                                                \
    if (!(isThere)) {                                                                              \
        const std::string reason_ = std::string("SKIP: ") + (reason);                              \
        QVERIFY2(!::tenon::test::isRequired(name), reason_.c_str());                               \
        QSKIP(reason_.c_str());                                                                    \
    }

#define NEED_TOOL(name)                                                                            \
    NEED(::tenon::test::missingTool(name).empty(), name, ::tenon::test::missingTool(name))
