/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a session: one private folder without subfolders. */
#ifndef TENON_RUNTIME_RPC_FILES_H
#define TENON_RUNTIME_RPC_FILES_H

#include <stddef.h>

enum
{
    kTenonPathCapacity = 1024
};

/** Where the folders of sessions are made: $TMPDIR or /tmp. */
const char* tenon_folder_parent(void);
/** Creates a private temporary folder and writes its path. */
int tenon_folder_make(char path[kTenonPathCapacity]);
/** Removes the folder with everything in it, as far as that is possible. */
void tenon_folder_remove(const char* path);
void tenon_folder_remove_at(int parent, const char* name);
/** Names separated by commas; free() it. NULL with an error. */
char* tenon_folder_list(const char* path);

/** folder/name; refuses names that would lead out of the folder. */
int tenon_file_path(const char* folder, const char* name, char out[kTenonPathCapacity]);
/** Writes aside, then renames, so that a half-written file never has the name. */
int tenon_file_write(const char* path, const void* data, size_t size);
/** The whole file in new memory; refuses more than `maximum` bytes. */
int tenon_file_read(const char* path, size_t maximum, void** data, size_t* size);
int tenon_file_remove(const char* path);

#endif
