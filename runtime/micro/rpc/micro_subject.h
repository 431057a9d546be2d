/* SPDX-License-Identifier: MIT-0 */
/* What a server serves: a model, and what the board lends. Generated code fills it in. */
#ifndef TENON_MICRO_SUBJECT_H
#define TENON_MICRO_SUBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "../../include/tenon/c_runtime_api.h"
#include "../graph/micro_function.h"

/** An input or output. */
typedef struct
{
    const char* name;
    DLDataType dtype;
    int32_t ndim; /* kMicroMostDims at most */
    const int64_t* shape;
} micro_port;

typedef struct
{
    const char* model; /* its name, "default" */
    const char* image; /* tells this image from others; NULL: not told */
    const char*
        board; /* of the hardware and its settings, "cpuid=410fc241 clock_hz=25000000 ..." */
    const micro_port* inputs;
    uint32_t input_count;
    const micro_port* outputs;
    uint32_t output_count;
    void* (*input)(uint32_t index); /* its memory */
    void* (*output)(uint32_t index);
    int32_t (*run)(void);               /* 0; above: the data were at fault; below: it cannot run */
    const char* (*fault)(int32_t code); /* what a result above 0 means */

    const tenon_micro_function* kernels; /* those that can be called alone */
    uint32_t kernel_count;

    uint32_t call_count;         /* kernels' calls of one run that are noted; 0: none are */
    const uint32_t* call_counts; /* how often each ran */
    const uint64_t* (*profile)(int32_t* code); /* runs; instants before each call and at the end */

    uint64_t (*nanoseconds)(void);
    uint32_t workspace_bytes;     /* planned, all of it in use at the model's peak */
    uint32_t stack_bytes;         /* there is */
    uint32_t (*stack_peak)(void); /* bytes that were in use at most */

    uint8_t* arrays; /* memory for the client's tensors, aligned to 16 bytes */
    uint32_t array_bytes;
} micro_subject;

#endif
