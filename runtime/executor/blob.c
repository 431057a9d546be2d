/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of imported modules inside a library. */
#include "blob.h"

#include <stdlib.h>
#include <string.h>

#include "../common/error.h"

/* Look-ups walk the tree without marks; the limit keeps even a hostile tree cheap. */
enum
{
    kMaxModules = 32
};

/* A module without functions of its own; stands between an AOT factory and its library. */
static int find_nothing(tenon_module* module, const char* name, tenon_func** out)
{
    (void)module;
    (void)name;
    (void)out;
    return 0;
}

static void destroy_plain(tenon_module* module)
{
    tenon_module_clear(module);
    free(module);
}

static const tenon_module_type kMetadataType = {"metadata_module", find_nothing, destroy_plain};

static int read_metadata(tenon_reader* reader, tenon_module* library, tenon_module** out)
{
    (void)reader;
    (void)library;
    tenon_module* module = calloc(1, sizeof *module);
    if (!module) return tenon_fail("out of memory for a module");
    tenon_module_init(module, &kMetadataType);
    *out = module;
    return 0;
}

static int read_library(tenon_reader* reader, tenon_module* library, tenon_module** out)
{
    (void)reader;
    *out = tenon_module_ref(library);
    return 0;
}

static const struct
{
    const char* key;
    int (*read)(tenon_reader* reader, tenon_module* library, tenon_module** out);
} kReaders[] = {
    {"_lib", read_library},
    {"GraphExecutorFactory", tenon_graph_factory_read},
    {"AotExecutorFactory", tenon_aot_factory_read},
    {"TenonVmExecutable", tenon_vm_executable_read},
    {"metadata_module", read_metadata},
};

static int read_module(tenon_reader* reader, const char* key, size_t length, tenon_module* library,
                       tenon_module** out)
{
    for (size_t i = 0; i < sizeof kReaders / sizeof kReaders[0]; ++i)
        if (strlen(kReaders[i].key) == length && memcmp(kReaders[i].key, key, length) == 0)
            return kReaders[i].read(reader, library, out);
    return tenon_fail("no loader for imported module `%.*s`", (int)(length > 64 ? 64 : length),
                      key);
}

static int read_import_tree(tenon_reader* reader, tenon_module** modules, size_t count)
{
    size_t rows = tenon_read_count(reader, 8);
    const uint8_t* row_bytes = tenon_read_bytes(reader, rows * 8);
    size_t children = tenon_read_count(reader, 8);
    const uint8_t* child_bytes = tenon_read_bytes(reader, children * 8);
    if (reader->failed || rows != count + 1) return tenon_fail("the import tree is cut off");
    tenon_reader row = tenon_reader_of(row_bytes, rows * 8);
    tenon_reader child = tenon_reader_of(child_bytes, children * 8);
    uint64_t at = tenon_read_u64(&row);
    if (at != 0) return tenon_fail("the import tree does not start at 0");
    for (size_t parent = 0; parent < count; ++parent) {
        uint64_t end = tenon_read_u64(&row);
        if (end < at || end > children) return tenon_fail("the import tree has a bad row");
        for (; at < end; ++at) {
            uint64_t index = tenon_read_u64(&child);
            if (index >= count)
                return tenon_fail("the import tree names a module that is not there");
            if (tenon_module_import(modules[parent], modules[index]) != 0) return -1;
        }
    }
    return at == children ? 0 : tenon_fail("the import tree has children without parents");
}

static int read_slots(tenon_reader* reader, tenon_module* library, tenon_module** modules,
                      size_t* count)
{
    static const char kTree[] = "_import_tree";
    uint64_t slots = tenon_read_u64(reader);
    if (reader->failed || slots == 0 || slots > kMaxModules + 1)
        return tenon_fail("a blob with %llu modules", (unsigned long long)slots);
    for (uint64_t slot = 0; slot < slots; ++slot) {
        size_t length;
        const char* key = tenon_read_string(reader, &length);
        if (!key) return tenon_fail("the blob of imported modules is cut off");
        if (length == sizeof kTree - 1 && memcmp(key, kTree, length) == 0) {
            if (slot + 1 != slots) return tenon_fail("the import tree is not the last slot");
            return read_import_tree(reader, modules, *count);
        }
        if (*count == kMaxModules ||
            read_module(reader, key, length, library, &modules[*count]) != 0)
            return -1;
        ++*count;
    }
    /* Without a tree the modules stand in a row under the first. */
    for (size_t i = 1; i < *count; ++i)
        if (tenon_module_import(modules[0], modules[i]) != 0) return -1;
    return 0;
}

int tenon_blob_load(const void* stream, size_t size, tenon_module* library, tenon_module** out)
{
    tenon_module* modules[kMaxModules] = {NULL};
    size_t count = 0;
    tenon_reader reader = tenon_reader_of(stream, size);
    int status = read_slots(&reader, library, modules, &count);
    if (status == 0 && count == 0) status = tenon_fail("the blob holds no module");
    if (status == 0) *out = tenon_module_ref(modules[0]);
    for (size_t i = 0; i < count; ++i) tenon_module_unref(modules[i]);
    return status;
}
