/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a session: one private folder without subfolders. */
#ifndef TENON_RUNTIME_RPC_FILES_H
#define TENON_RUNTIME_RPC_FILES_H

#include <stddef.h>

#include "folder.h"

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
