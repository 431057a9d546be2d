// SPDX-License-Identifier: Apache-2.0
// How many processors a system lets a program use: its set of CPUs and its control group's share.
#pragma once

#include <string>
#include <string_view>

namespace tenon::core {

/// CPUs in a list as the kernel writes it: "0-3,8" has five. 0 where it is no such list.
unsigned cpusInList(std::string_view list);

/// The smallest share that the lines "QUOTA PERIOD" grant, in processors, rounded up; "max" and -1
/// grant all. 0: none of them limits.
unsigned cpusOfQuotas(std::string_view lines);

/// The lines of cpusOfQuotas() for the control groups that the text of /proc/self/cgroup names,
/// and for all above them. `root` is where the groups are mounted.
std::string quotasOf(std::string_view groups, const std::string& root = "/sys/fs/cgroup");

/// What this process may use of this computer; at least 1.
unsigned usableProcessors();

} // namespace tenon::core
