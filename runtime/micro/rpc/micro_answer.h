/* SPDX-License-Identifier: MIT-0 */
/* Inside the server: what its files share. */
#ifndef TENON_MICRO_ANSWER_H
#define TENON_MICRO_ANSWER_H

#include "micro_server.h"

/* Codes of the packets that are known here (runtime/rpc/protocol.h has all). */
enum
{
    kMicroShutdown = 1,
    kMicroInit = 2,
    kMicroCall = 3,
    kMicroReturn = 4,
    kMicroException = 5,
    kMicroCopyFrom = 6,
    kMicroCopyTo = 7,
    kMicroCopyAck = 8,
    kMicroGetGlobal = 9,
    kMicroFreeHandle = 10,
    kMicroSetDevice = 11,
    kMicroGetAttr = 12,
    kMicroAlloc = 13,
    kMicroFree = 14,
    kMicroSync = 15,
    kMicroCopyAmong = 16,
    kMicroAllocScoped = 17
};

/* Reads the packet, does what it says, and leaves the answer in server->reply. 0 when there is none
 * (the client said goodbye). */
int micro_answer(micro_server* server, const uint8_t* packet, size_t size);

/* Replace the answer by this one. */
void micro_reply_none(micro_server* server);
void micro_reply_failure(micro_server* server, const char* why);
void micro_reply_failures(micro_server* server, const char* why, const char* more);
/* Of a system call: one opaque handle or number. */
void micro_reply_handle(micro_server* server, uint64_t handle);
void micro_reply_integer(micro_server* server, int64_t value);
/* Of a function. */
void micro_return_none(micro_server* server);
void micro_return_integer(micro_server* server, int64_t value);
void micro_return_handle(micro_server* server, int32_t code, uint64_t handle);
void micro_return_text(micro_server* server, const char* text);
void micro_return_array(micro_server* server, const micro_port* port, void* memory);
/* Begins an answer of `size` bytes, which the caller writes. */
void micro_return_bytes(micro_server* server, size_t size);

/* The client's arrays. */
uint64_t micro_allocate(micro_server* server, uint64_t bytes); /* 0: there is no room */
int micro_release(micro_server* server, uint64_t address);
void micro_release_all(micro_server* server);
/* The memory that a tensor of the client shows: of its arrays, of inputs or outputs; NULL when any
 * of it lies elsewhere. */
void* micro_memory_of(const micro_server* server, uint64_t address, size_t bytes);
size_t micro_port_bytes(const micro_port* port);

/* Functions and modules by handle. */
uint32_t micro_global_function(const char* bytes, size_t size);
void micro_call_function(micro_server* server, uint32_t handle);
/* The same without an answer: NULL, or what failed. */
const char* micro_run_function(micro_server* server, uint32_t handle);
int micro_can_be_timed(const micro_server* server, uint32_t handle);
uint32_t micro_module_function(const micro_server* server, uint32_t module,
                               const micro_value* name);
const char* micro_run_model(micro_server* server);

enum
{
    kMicroSystemLib = 0x8000, /* modules: index | 0x8000 */
    kMicroModel = 0x8001,
    kMicroGlobals = 0x8002
};
#define MICRO_EVALUATOR 0xFFFF8001u
#define MICRO_FUNCTION(module, index) ((uint32_t)(module) << 16 | 0x8000u | (uint32_t)(index))

void micro_make_evaluator(micro_server* server);
void micro_evaluate(micro_server* server);
void micro_return_statistics(micro_server* server);
void micro_return_profile(micro_server* server);

#endif
