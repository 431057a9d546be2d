/* SPDX-License-Identifier: Apache-2.0 */
/* Shared objects through the system's loader. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "../common/error.h"
#include "image.h"

#if defined(__GLIBC__)
#include <link.h>
#endif

/* A tenon_image* is the loader's own handle; the type has no members here. */
tenon_image* tenon_image_open(const char* path)
{
    struct stat about; /* a pipe would wait for a writer */
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        tenon_fail("cannot load `%s`: not a regular file", path);
        return NULL;
    }
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) tenon_fail("cannot load `%s`: %s", path, dlerror());
    return handle;
}

void tenon_image_close(tenon_image* image) { dlclose(image); }

#if defined(__GLIBC__)
/* dlsym also finds symbols of the libraries this one depends on; those are none of its own. */
static void* own_symbol(void* handle, const char* name, size_t* size)
{
    void* address = dlsym(handle, name);
    struct link_map* map = NULL;
    const ElfW(Sym)* symbol = NULL;
    Dl_info where;
    if (!address || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return address;
    if (!dladdr1(address, &where, (void**)&symbol, RTLD_DL_SYMENT)) return NULL;
    if (strcmp(where.dli_fname, map->l_name) != 0) return NULL;
    if (symbol && symbol->st_size) *size = symbol->st_size;
    return address;
}
#else
static void* own_symbol(void* handle, const char* name, size_t* size)
{
    (void)size;
    return dlsym(handle, name);
}
#endif

void* tenon_image_symbol(const tenon_image* image, const char* name, size_t* size)
{
    size_t unused;
    if (!size) size = &unused;
    *size = SIZE_MAX;
    return own_symbol((void*)(uintptr_t)image, name, size);
}
