// SPDX-License-Identifier: Apache-2.0
// One system call.
#include "core/target/lent_tiles.h"

#if defined(__linux__) && defined(__x86_64__)
#include <unistd.h>
#endif

namespace tenon::core {

bool lendsTiles()
{
#if defined(__linux__) && defined(__x86_64__)
    return ::syscall(kArchPrctl, kRequestPermission, kTileData) == 0;
#else
    return false;
#endif
}

} // namespace tenon::core
