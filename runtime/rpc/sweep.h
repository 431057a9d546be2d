/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that were killed left behind. */
#ifndef TENON_RUNTIME_RPC_SWEEP_H
#define TENON_RUNTIME_RPC_SWEEP_H

/** Removes the temporary folders, of all of Tenon's programs and of this user, that nobody holds.
 */
void tenon_sweep_folders(void);

/** The same on a board, where the working folder is one of several in a folder of ours: those of
 * other runs whose shell and server are gone, and, when nobody else uses this one, what broken
 * transfers left in it. From now on this process holds the working folder. */
void tenon_sweep_board(void);

#endif
