// SPDX-License-Identifier: Apache-2.0
// Folders of the user: what the environment says counts where it is a path from the root.
#include "core/base/user_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tenon::core {
namespace {

class UserFolder : public testing::Test
{
protected:
    void SetUp() override { ::setenv("HOME", "/of/one", 1); }
    void TearDown() override { ::unsetenv("TENON_TEST_FOLDER"); }
    static std::string folderFor(const char* value)
    {
        ::setenv("TENON_TEST_FOLDER", value, 1);
        return userFolder("TENON_TEST_FOLDER", ".cache");
    }
};

TEST_F(UserFolder, takesWhatTheEnvironmentSays)
{
    EXPECT_EQ(folderFor("/a b/cache"), "/a b/cache");
    EXPECT_EQ(userFolder("TENON_TEST_UNSET", ".config"), "/of/one/.config");
}

TEST_F(UserFolder, ignoresPathsThatAreNotFromTheRoot)
{
    for (const char* value : {"", "relative", "./x", "~/x"})
        EXPECT_EQ(folderFor(value), "/of/one/.cache") << value;
}

TEST_F(UserFolder, isTheSystemsWithoutAUsableHome)
{
    for (const char* home : {"", "relative"}) {
        ::setenv("HOME", home, 1);
        EXPECT_EQ(homeFolder().find(home[0] ? home : "\n"), std::string::npos);
        EXPECT_TRUE(homeFolder().empty() || homeFolder()[0] == '/') << homeFolder();
    }
    ::unsetenv("HOME");
    EXPECT_TRUE(homeFolder().empty() || homeFolder()[0] == '/') << homeFolder();
}

} // namespace
} // namespace tenon::core
