/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary folders. Whoever uses one holds it by a lock, which goes with the process: what nobody
 * holds was left behind, and whoever comes next removes it. */
#ifndef TENON_RUNTIME_RPC_FOLDER_H
#define TENON_RUNTIME_RPC_FOLDER_H

#include <stdbool.h>

enum
{
    kTenonPathCapacity = 1024
};

typedef struct
{
    char path[kTenonPathCapacity]; /* "": none */
    int lock;                      /* -1: none */
} tenon_folder;

/** Where they are made: $TMPDIR or /tmp. */
const char* tenon_folder_parent(void);
/** Makes a private one; -1 with an error. */
int tenon_folder_make(tenon_folder* folder);
/** Removes it with everything in it, as far as that is possible. */
void tenon_folder_discard(tenon_folder* folder);

/** Takes hold of a folder, with others who do the same (`is_shared`) or alone. A descriptor; -1
 * when it is held otherwise, is no folder of this user, or its place was taken meanwhile. */
int tenon_folder_hold(int parent, const char* name, bool is_shared);
/** Removes a folder with everything in it, as far as that is possible. */
void tenon_folder_remove_at(int parent, const char* name);
/** The same when nobody holds it. */
void tenon_folder_sweep_at(int parent, const char* name);

#endif
