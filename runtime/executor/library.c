/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a shared library: symbols, the variables the runtime fills, and the blob of modules. */
#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "../common/error.h"
#include "blob.h"
#include "profile.h"

#if defined(__GLIBC__)
#include <link.h>
#endif

typedef struct
{
    tenon_module base;
    void* handle;
    void** context; /* the library's __tvm_module_ctx, or NULL */
} library;

typedef void (*any_function)(void);

/* Variables by which generated code reaches the runtime without undefined symbols. */
static const struct
{
    const char* name;
    any_function function;
} kEntryPoints[] = {
    {"__TVMFuncCall", (any_function)TVMFuncCall},
    {"__TVMAPISetLastError", (any_function)TVMAPISetLastError},
    {"__TVMBackendGetFuncFromEnv", (any_function)TVMBackendGetFuncFromEnv},
    {"__TVMBackendAllocWorkspace", (any_function)TVMBackendAllocWorkspace},
    {"__TVMBackendFreeWorkspace", (any_function)TVMBackendFreeWorkspace},
    {"__TVMBackendParallelLaunch", (any_function)TVMBackendParallelLaunch},
    {"__TVMBackendParallelBarrier", (any_function)TVMBackendParallelBarrier},
    {"__TenonProfileMark", (any_function)tenon_profile_mark},
};

/* dlsym also finds symbols of the libraries this one depends on; those are none of its functions.
 */
static void* own_symbol(void* handle, const char* name)
{
    void* address = dlsym(handle, name);
#if defined(__GLIBC__)
    struct link_map* map = NULL;
    Dl_info where;
    if (address && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
        (!dladdr(address, &where) || strcmp(where.dli_fname, map->l_name) != 0))
        return NULL;
#endif
    return address;
}

/* Size of a data symbol as the symbol table says, or `unknown`. */
static size_t symbol_size(void* address, size_t unknown)
{
#if defined(__GLIBC__)
    Dl_info where;
    const ElfW(Sym)* symbol = NULL;
    if (dladdr1(address, &where, (void**)&symbol, RTLD_DL_SYMENT) && symbol && symbol->st_size)
        return symbol->st_size;
#else
    (void)address;
#endif
    return unknown;
}

static int get_function(tenon_module* module, const char* name, tenon_func** out)
{
    const library* self = (const library*)module;
    void* address = own_symbol(self->handle, name);
    if (!address) return 0;
    TVMBackendPackedCFunc call;
    memcpy(&call, &address, sizeof call); /* ISO C has no cast from data to function pointer */
    *out = tenon_func_new(call, NULL, module);
    return *out ? 0 : -1;
}

static void destroy(tenon_module* module)
{
    library* self = (library*)module;
    tenon_module_clear(module);
    dlclose(self->handle);
    free(self);
}

static const tenon_module_type kLibraryType = {"library", get_function, destroy};

static void fill_entry_points(const library* self)
{
    for (size_t i = 0; i < sizeof kEntryPoints / sizeof kEntryPoints[0]; ++i) {
        void* variable = own_symbol(self->handle, kEntryPoints[i].name);
        if (variable) memcpy(variable, &kEntryPoints[i].function, sizeof(any_function));
    }
}

static int load_modules(library* self, tenon_module** root)
{
    const unsigned char* blob = own_symbol(self->handle, "__tvm_dev_mblob");
    if (!blob) {
        *root = tenon_module_ref(&self->base);
        return 0;
    }
    size_t room = symbol_size((void*)(uintptr_t)blob, SIZE_MAX);
    tenon_reader header = tenon_reader_of(blob, room < 8 ? room : 8);
    uint64_t size = tenon_read_u64(&header);
    if (header.failed || size > room - 8)
        return tenon_fail("the blob of imported modules is cut off");
    return tenon_blob_load(blob + 8, (size_t)size, &self->base, root);
}

int tenon_library_load(const char* path, tenon_module** out)
{
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return tenon_fail("cannot load `%s`: %s", path, dlerror());
    library* self = calloc(1, sizeof *self);
    if (!self) {
        dlclose(handle);
        return tenon_fail("out of memory for a module");
    }
    tenon_module_init(&self->base, &kLibraryType);
    self->handle = handle;
    self->context = own_symbol(handle, "__tvm_module_ctx");
    fill_entry_points(self);
    int status = load_modules(self, out);
    if (status != 0)
        tenon_fail_within(path);
    else if (self->context)
        *self->context = *out;
    tenon_module_unref(&self->base);
    return status;
}

int TVMModLoadFromFile(const char* file_name, const char* format, TVMModuleHandle* out)
{
    size_t length = strlen(file_name);
    size_t suffix = length;
    while (suffix > 0 && file_name[suffix - 1] != '.' && file_name[suffix - 1] != '/') --suffix;
    if (!format || !format[0])
        format = suffix && file_name[suffix - 1] == '.' ? file_name + suffix : "so";
    if (strcmp(format, "so") != 0 && strcmp(format, "dll") != 0 && strcmp(format, "dylib") != 0 &&
        strcmp(format, "dso") != 0)
        return tenon_fail("cannot load format `%s`; link it into a shared library first", format);
    tenon_module* module = NULL;
    if (tenon_library_load(file_name, &module) != 0) return -1;
    *out = module;
    return 0;
}
