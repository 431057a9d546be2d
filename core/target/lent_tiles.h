// SPDX-License-Identifier: Apache-2.0
// Tiles of Intel AMX, which Linux lends to processes that ask.
#pragma once

namespace tenon::core {

/// arch_prctl(ARCH_REQ_XCOMP_PERM, the state of tiles) on x86-64: 0 once the process may use them
/// (Linux's Documentation/arch/x86/xstate.rst).
inline constexpr long kArchPrctl = 158, kRequestPermission = 0x1023, kTileData = 18;

/// Whether this process may use tiles from now on; it asks the system. Of processors that have none
/// it says nothing.
bool lendsTiles();

} // namespace tenon::core
