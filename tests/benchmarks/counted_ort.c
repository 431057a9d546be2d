/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a model on ONNX Runtime's C API with marks for the counting plugin: the peer of `./dev bench
 * aarch64`, cross-compiled.
 *
 * usage: counted_ort LIBRARY MODEL TYPE:D0xD1...
 * One argument per input: its ONNX element type and shape; inputs are zeros. All optimisations are
 * on, one thread. Prints the library's version. */
#include "remote/peer/ort_slots.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum
{
    kMark = 0x7e404000, /* of count_plugin.c */
    kMaxRank = 16,
    kRuns = 2 /* the first one sets up */
};

typedef void* object;

typedef struct
{
    void* const* (*get_api)(uint32_t version);
    const char* (*version)(void);
} api_base;

static void* const* table;

/* Entries differ in their arguments only, and all return a status: NULL on success. */
#define CALL(slot, types, ...) check(#slot, ((object(*) types)table[slot])(__VA_ARGS__))

static void fail(const char* where, const char* what)
{
    fprintf(stderr, "counted_ort: %s: %s\n", where, what);
    exit(1);
}

static void check(const char* where, object status)
{
    if (status) fail(where, ((const char* (*)(object))table[kOrtGetErrorMessage])(status));
}

static void load(const char* path)
{
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(path, dlerror());
    const api_base* (*get_base)(void);
    *(void**)&get_base = dlsym(library, "OrtGetApiBase");
    if (!get_base) fail(path, "has no OrtGetApiBase");
    table = get_base()->get_api(kOrtApiVersion);
    if (!table) fail(path, "does not offer the API version");
    printf("%s\n", get_base()->version());
}

static object open_session(const char* model)
{
    object env, options, session;
    CALL(kOrtCreateEnv, (int, const char*, object*), kOrtLogError, "counted", &env);
    CALL(kOrtCreateSessionOptions, (object*), &options);
    CALL(kOrtSetGraphOptimizationLevel, (object, int), options, kOrtEnableAllOptimisations);
    CALL(kOrtSetIntraOpNumThreads, (object, int), options, 1);
    CALL(kOrtSetInterOpNumThreads, (object, int), options, 1);
    CALL(kOrtCreateSession, (object, const char*, object, object*), env, model, options, &session);
    return session;
}

static object zeros(object memory, const char* text)
{
    char* at;
    int64_t dims[kMaxRank];
    size_t rank = 0;
    size_t bytes = 8; /* of the largest element */
    const int type = (int)strtol(text, &at, 10);
    while (*at && at[1] && rank < kMaxRank) {
        dims[rank] = strtoll(at + 1, &at, 10);
        bytes *= (size_t)dims[rank++];
    }
    void* data = calloc(1, bytes);
    object value;
    if (!data) fail(text, "is too large");
    CALL(kOrtCreateTensorWithData, (object, void*, size_t, const int64_t*, size_t, int, object*),
         memory, data, bytes, dims, rank, type, &value);
    return value;
}

static object bind(object session, int count, char** inputs)
{
    object binding, memory, allocator;
    char* name;
    size_t wanted, outputs;
    CALL(kOrtCreateIoBinding, (object, object*), session, &binding);
    CALL(kOrtCreateCpuMemoryInfo, (int, int, object*), kOrtArenaAllocator, kOrtDefaultMemory,
         &memory);
    CALL(kOrtGetDefaultAllocator, (object*), &allocator);
    CALL(kOrtSessionGetInputCount, (object, size_t*), session, &wanted);
    if (wanted != (size_t)count) fail("inputs", "the model has another number of them");
    for (size_t i = 0; i < wanted; ++i) {
        CALL(kOrtSessionGetInputName, (object, size_t, object, char**), session, i, allocator,
             &name);
        CALL(kOrtBindInput, (object, const char*, object), binding, name, zeros(memory, inputs[i]));
    }
    CALL(kOrtSessionGetOutputCount, (object, size_t*), session, &outputs);
    for (size_t i = 0; i < outputs; ++i) {
        CALL(kOrtSessionGetOutputName, (object, size_t, object, char**), session, i, allocator,
             &name);
        CALL(kOrtBindOutputToDevice, (object, const char*, object), binding, name, memory);
    }
    return binding;
}

int main(int argc, char** argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: counted_ort LIBRARY MODEL TYPE:D0xD1...\n");
        return 2;
    }
    load(argv[1]);
    const object session = open_session(argv[2]);
    const object binding = bind(session, argc - 3, argv + 3);
    for (int i = 0; i < kRuns; ++i) {
        CALL(kOrtRunWithBinding, (object, object, object), session, NULL, binding);
        close(kMark);
    }
    fflush(stdout);
    _exit(0); /* what is torn down is not counted and takes long */
}
