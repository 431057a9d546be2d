/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a shared library: the variables the runtime fills, and the blob of modules. */
#include "library.h"

#include <stdlib.h>
#include <string.h>

#include "../common/error.h"
#include "../loader/image.h"
#include "blob.h"
#include "profile.h"

typedef struct
{
    tenon_module base;
    tenon_image* image;
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

static int get_function(tenon_module* module, const char* name, tenon_func** out)
{
    const library* self = (const library*)module;
    void* address = tenon_image_symbol(self->image, name, NULL);
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
    tenon_image_close(self->image);
    free(self);
}

static const tenon_module_type kLibraryType = {"library", get_function, destroy};

static void fill_entry_points(const library* self)
{
    for (size_t i = 0; i < sizeof kEntryPoints / sizeof kEntryPoints[0]; ++i) {
        void* variable = tenon_image_symbol(self->image, kEntryPoints[i].name, NULL);
        if (variable) memcpy(variable, &kEntryPoints[i].function, sizeof(any_function));
    }
}

static int load_modules(library* self, tenon_module** root)
{
    size_t room;
    const unsigned char* blob = tenon_image_symbol(self->image, "__tvm_dev_mblob", &room);
    if (!blob) {
        *root = tenon_module_ref(&self->base);
        return 0;
    }
    tenon_reader header = tenon_reader_of(blob, room < 8 ? room : 8);
    uint64_t size = tenon_read_u64(&header);
    if (header.failed || size > room - 8)
        return tenon_fail("the blob of imported modules is cut off");
    return tenon_blob_load(blob + 8, (size_t)size, &self->base, root);
}

int tenon_library_load(const char* path, tenon_module** out)
{
    tenon_image* image = tenon_image_open(path);
    if (!image) return -1;
    library* self = calloc(1, sizeof *self);
    if (!self) {
        tenon_image_close(image);
        return tenon_fail("out of memory for a module");
    }
    tenon_module_init(&self->base, &kLibraryType);
    self->image = image;
    self->context = tenon_image_symbol(image, "__tvm_module_ctx", NULL);
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
