/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object in memory. Two implementations, one per product: image_dl.c asks the system's
 * loader and serves the shared runtime library; image_elf.c is our own, for the static server,
 * which has no system loader to ask. */
#ifndef TENON_RUNTIME_IMAGE_H
#define TENON_RUNTIME_IMAGE_H

#include <stddef.h>

typedef struct tenon_image tenon_image;

/** Maps the file and runs its constructors; NULL with an error recorded. */
tenon_image* tenon_image_open(const char* path);
void tenon_image_close(tenon_image* image);

/** Address of an exported symbol of this object itself; NULL when it has none of that name. `size`
 * (may be NULL) gets its bytes, SIZE_MAX when the object does not tell. */
void* tenon_image_symbol(const tenon_image* image, const char* name, size_t* size);

#endif
