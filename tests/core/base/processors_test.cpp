// SPDX-License-Identifier: Apache-2.0
// Sets of CPUs and shares of control groups, as the kernel writes them and as they may be damaged.
#include "core/base/processors.h"
#include "core/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

TEST(Processors, countsAListOfCpus)
{
    EXPECT_EQ(cpusInList("0-3\n"), 4u);
    EXPECT_EQ(cpusInList("0,2,4-5"), 4u);
    EXPECT_EQ(cpusInList("7"), 1u);
    for (const char* damaged : {"", "x", "3-1", "0-", "-2", "0-99999999999", "0-3,"})
        EXPECT_EQ(cpusInList(damaged), 0u) << damaged;
}

TEST(Processors, takesTheSmallestShare)
{
    EXPECT_EQ(cpusOfQuotas("max 100000\n"), 0u);
    EXPECT_EQ(cpusOfQuotas("-1 100000\n"), 0u);
    EXPECT_EQ(cpusOfQuotas("150000 100000\nmax 100000\n400000 100000\n"), 2u);
    EXPECT_EQ(cpusOfQuotas("1 100000\n"), 1u);
    for (const char* damaged : {"", "x y\n", "100000\n", "100000 0\n", "100000 -5\n"})
        EXPECT_EQ(cpusOfQuotas(damaged), 0u) << damaged;
}

class Groups : public testing::Test
{
protected:
    void write(const std::string& name, const std::string& text)
    {
        const fs::path path = m_folder.path() + "/" + name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text << "\n";
    }
    unsigned share(const std::string& groups)
    {
        return cpusOfQuotas(quotasOf(groups, m_folder.path()));
    }

private:
    TemporaryFolder m_folder = *TemporaryFolder::make("tenon-groups-");
};

TEST_F(Groups, limitsByTheGroupAndAllAboveIt)
{
    write("a/b/cpu.max", "max 100000");
    EXPECT_EQ(share("0::/a/b\n"), 0u);
    write("a/cpu.max", "200000 100000");
    EXPECT_EQ(share("0::/a/b\n"), 2u);
    write("cpu.max", "100000 100000");
    EXPECT_EQ(share("0::/a/b\n"), 1u);
    EXPECT_EQ(share("0::/\n"), 1u);
    EXPECT_EQ(share("0::/gone\n"), 1u);
}

TEST_F(Groups, readsTheFirstVersion)
{
    write("cpu/x/cpu.cfs_quota_us", "250000");
    write("cpu/x/cpu.cfs_period_us", "100000");
    EXPECT_EQ(share("5:memory:/x\n4:cpu,cpuacct:/x\n"), 3u);
    EXPECT_EQ(share("4:cpuset:/x\n"), 0u);
    write("cpu/x/cpu.cfs_quota_us", "-1");
    EXPECT_EQ(share("4:cpu:/x\n"), 0u);
}

TEST_F(Groups, survivesNonsense)
{
    for (const char* text : {"", "\n", ":", "::", "0::", "0:cpu:x", "a:b", "0::/../..\n"})
        EXPECT_EQ(share(text), 0u) << text;
}

TEST(Processors, findsOneHereAtLeast) { EXPECT_GE(usableProcessors(), 1u); }

} // namespace
} // namespace tenon::core
