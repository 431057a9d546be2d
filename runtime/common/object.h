/* SPDX-License-Identifier: Apache-2.0 */
/* The three things behind handles: packed functions, modules and arrays, all reference counted. */
#ifndef TENON_RUNTIME_OBJECT_H
#define TENON_RUNTIME_OBJECT_H

#include <stdatomic.h>

#include "../include/tenon/c_backend_api.h"

typedef struct tenon_module tenon_module;
typedef struct tenon_func tenon_func;

/** What distinguishes one kind of module from another. */
typedef struct
{
    const char* name;
    /** Sets *out (left NULL when there is no such function); -1 only for real failures. */
    int (*get_function)(tenon_module* module, const char* name, tenon_func** out);
    /** Frees what the module owns and the module itself. */
    void (*destroy)(tenon_module* module);
} tenon_module_type;

/** First member of every concrete module. */
struct tenon_module
{
    atomic_int refs;
    const tenon_module_type* type;
    tenon_module** imports; /* owned references */
    size_t import_count;
    struct tenon_env_entry* env; /* functions handed to generated code */
};

/** A callable: a packed C function with its resource handle, keeping `owner` alive. */
struct tenon_func
{
    atomic_int refs;
    TVMBackendPackedCFunc call;
    void* resource;
    tenon_module* owner;             /* owned reference or NULL */
    TVMPackedCFunc host_call;        /* set instead of `call` for functions of the embedder */
    void (*release)(void* resource); /* or NULL */
};

/** Methods of a module kind by name. */
typedef struct
{
    const char* name;
    TVMBackendPackedCFunc call;
} tenon_method;

void tenon_module_init(tenon_module* module, const tenon_module_type* type);
tenon_module* tenon_module_ref(tenon_module* module);
void tenon_module_unref(tenon_module* module);
/** Takes its own reference to `dependency`. */
int tenon_module_import(tenon_module* module, tenon_module* dependency);
/** Looks in the module, then (when asked) in its imports, depth first. */
int tenon_module_find(tenon_module* module, const char* name, int query_imports, tenon_func** out);
/** get_function by table: the resource handle of each method is the module. */
int tenon_module_find_method(tenon_module* module, const tenon_method* methods, size_t count,
                             const char* name, tenon_func** out);
/** Drops cached functions and imports; called by destroy(). */
void tenon_module_clear(tenon_module* module);

tenon_func* tenon_func_new(TVMBackendPackedCFunc call, void* resource, tenon_module* owner);
tenon_func* tenon_func_ref(tenon_func* func);
void tenon_func_unref(tenon_func* func);

/** A tensor with memory; the handle of an array is the address of `tensor`. */
typedef struct
{
    DLTensor tensor;
    atomic_int refs;
    void (*release)(void* context); /* gives the memory back; NULL: nothing to do */
    void* context;
    int64_t shape[];
} tenon_array;

/** A compact CPU array, 64-byte aligned; NULL with an error recorded. */
tenon_array* tenon_array_new(const int64_t* shape, int32_t ndim, DLDataType dtype);
/** A view of foreign memory. */
tenon_array* tenon_array_view(const DLTensor* tensor, void (*release)(void*), void* context);
tenon_array* tenon_array_ref(tenon_array* array);
void tenon_array_unref(tenon_array* array);
/** Copies between compact CPU tensors of equal byte size; shape and type must agree. */
int tenon_tensor_copy(const DLTensor* from, const DLTensor* to);

/** `size` bytes aligned to 64; free() gives them back. NULL when there is no memory. */
void* tenon_aligned_alloc(size_t size);

#endif
