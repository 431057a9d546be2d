/* SPDX-License-Identifier: MIT-0 */
/* Serves a model to a client at the other end of a line of bytes. */
#include "../rpc/micro_server.h"
#include "board.h"
#include "program.h"
#include "served.h"
#include "timer.h"
#include "transport.h"

/* The largest packet on the line; a client asks for it. */
#ifndef PACKET_BYTES
#define PACKET_BYTES 2048
#endif
/* Memory for the client's tensors. */
#ifndef ARRAY_BYTES
#define ARRAY_BYTES 32768
#endif
/* How far down the stack is watched. */
#ifndef STACK_BYTES
#define STACK_BYTES 16384
#endif

static uint8_t request[MICRO_BUFFER_BYTES(PACKET_BYTES)];
static uint8_t reply[PACKET_BYTES];
static uint8_t arrays[ARRAY_BYTES] __attribute__((aligned(16)));
static micro_server server;
static int is_profiling;

enum
{
    kPaint = 0x5A,
    kSpared = 256 /* below the stack pointer, for who paints */
};
static uintptr_t stack_low;

void program_mark(uint32_t index)
{
    if (index + 1 < program_mark_count) ++served_call_counts[index];
    if (is_profiling) program_marks[index] = nanoseconds();
}

/* What lies above is main's own and its caller's, which the peak leaves out. */
static void paint_stack(void)
{
    volatile uint8_t top = 0;
    const uintptr_t end = (uintptr_t)&top - kSpared - top;
    stack_low = end + kSpared - STACK_BYTES;
    for (uintptr_t at = stack_low; at < end; ++at) *(volatile uint8_t*)at = kPaint;
}

static uint32_t stack_peak(void)
{
    uint32_t untouched = 0;
    while (untouched < STACK_BYTES - kSpared &&
           *(const volatile uint8_t*)(stack_low + untouched) == kPaint)
        ++untouched;
    return STACK_BYTES - untouched;
}

static void* input(uint32_t index) { return program_inputs[index].bytes; }

static void* output(uint32_t index) { return program_outputs[index].bytes; }

static const char* fault(int32_t code) { return program_faults[code - 1]; }

static const uint64_t* profile(int32_t* code)
{
    is_profiling = 1;
    *code = program_infer();
    is_profiling = 0;
    return program_marks;
}

static void send(void* context, const uint8_t* bytes, size_t size)
{
    (void)context;
    transport_write(bytes, size);
}

void serve_say(const char* text) { micro_server_log(&server, text); }

int32_t serve_begin(void)
{
    static micro_subject subject;
    const int32_t code = program_prepare();
    if (code != 0) return code;
    start_timer();
    transport_begin();
    subject.model = served_model;
    subject.image = served_image;
    subject.board = board_text();
    subject.inputs = served_inputs;
    subject.input_count = program_input_count;
    subject.outputs = served_outputs;
    subject.output_count = program_output_count;
    subject.input = input;
    subject.output = output;
    subject.run = program_infer;
    subject.fault = fault;
    subject.kernels = served_kernels(&subject.kernel_count);
    subject.call_count = program_mark_count > 0 ? program_mark_count - 1 : 0;
    subject.call_counts = served_call_counts;
    subject.profile = profile;
    subject.nanoseconds = nanoseconds;
    subject.workspace_bytes = program_workspace_bytes();
    subject.stack_bytes = STACK_BYTES;
    subject.stack_peak = stack_peak;
    subject.arrays = arrays;
    subject.array_bytes = ARRAY_BYTES;
    paint_stack();
    micro_server_begin(&server, &subject, send, 0, request, reply, PACKET_BYTES);
    return 0;
}

int32_t serve_some(void)
{
    uint8_t bytes[32];
    const size_t count = transport_read(bytes, sizeof bytes);
    if (count > 0) micro_server_take(&server, bytes, count);
    return count > 0;
}

/* Systems with a main function of their own call these two. */
#if !defined(SERVE_WITHOUT_MAIN)
int main(void)
{
    if (serve_begin() != 0) return 1;
    while (serve_some()) {}
    return 0;
}
#endif
