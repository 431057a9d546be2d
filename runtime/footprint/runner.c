/* SPDX-License-Identifier: Apache-2.0 */
/* tenon-model-runner FILE [RUNS]: the smallest program that loads a compiled model and runs it
 * once, or RUNS times, on zeros. It says what that took of memory; `tenon footprint` counts the
 * program as the runtime. A plugin of the emulator may count its instructions: a mark follows each
 * run. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../include/tenon/c_runtime_api.h"
#include "counting.h"

enum
{
    kStackBytes = 16 << 20,
    kPaint = 0x5ac3f00d,
    kMark = 0x7e404000 /* no file has this number; tests/benchmarks/count_plugin.c looks for it */
};

typedef struct
{
    const char* path;
    long runs;
    int status;
    uintptr_t top; /* of the stack when the model's turn comes */
} job;

static int call(TVMModuleHandle module, const char* name, TVMValue* args, int* codes, int count,
                TVMValue* result)
{
    TVMFunctionHandle function = NULL;
    int code;
    if (TVMModGetFunction(module, name, 1, &function) != 0 || !function) return -1;
    return TVMFuncCall(function, args, codes, count, result, &code);
}

static __attribute__((noinline)) int run_model(const char* path, long runs)
{
    TVMModuleHandle module = NULL;
    TVMValue device = {.v_device = {kDLCPU, 0}};
    int device_code = kDLDevice;
    TVMValue executor;
    TVMValue nothing;
    if (TVMModLoadFromFile(path, "so", &module) != 0) return -1;
    if (call(module, "default", &device, &device_code, 1, &executor) != 0) return -1;
    for (; runs > 0; --runs) {
        if (call(executor.v_handle, "run", NULL, NULL, 0, &nothing) != 0) return -1;
        close(kMark);
    }
    return 0;
}

static void* run(void* argument)
{
    job* self = argument;
    volatile uint64_t here = 0;
    self->top = (uintptr_t)&here;
    tenon_counting_start();
    self->status = run_model(self->path, self->runs);
    if (self->status != 0) fprintf(stderr, "%s\n", TVMGetLastError());
    return NULL;
}

/* Runs on painted memory and looks how far down the paint is gone. */
static int run_on_painted_stack(job* self, size_t* stack_bytes)
{
    uint32_t* stack = mmap(NULL, kStackBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return -1;
    for (size_t i = 0; i < kStackBytes / sizeof *stack; ++i) stack[i] = kPaint;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack, kStackBytes) != 0 ||
        pthread_create(&thread, &attributes, run, self) != 0)
        return -1;
    pthread_join(thread, NULL);
    size_t untouched = 0;
    while (untouched < kStackBytes / sizeof *stack && stack[untouched] == kPaint) ++untouched;
    *stack_bytes = self->top - (uintptr_t)&stack[untouched];
    return self->status;
}

int main(int argc, char** argv)
{
    if (argc != 2 && argc != 3) return 2;
    setenv("TVM_NUM_THREADS", "1", 1); /* the counters are for one */
    job job = {.path = argv[1], .runs = argc == 3 ? atol(argv[2]) : 1};
    size_t stack_bytes = 0;
    if (run_on_painted_stack(&job, &stack_bytes) != 0) return 1;
    const tenon_counts counts = tenon_counting_result();
    printf("stack %zu\nheap %zu\nworkspace %zu\nfirst %zu\n", stack_bytes, counts.heap_peak,
           counts.workspace_peak, counts.workspace_first);
    static const char* const kSites[kSiteCount] = {"other", "library", "executor",
                                                   "graph", "tensors", "workspaces"};
    for (size_t i = 0; i < kSiteCount; ++i)
        printf("site-%s %zu\nblocks-%s %zu\n", kSites[i], counts.sites[i].bytes, kSites[i],
               counts.sites[i].blocks);
    return 0;
}
