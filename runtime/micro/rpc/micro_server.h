/* SPDX-License-Identifier: MIT-0 */
/* TVM's RPC server for a board without an operating system: frames, one session, and a model behind
 * it. No heap, no files; all memory is the caller's. Clients are Tenon and microTVM's.
 *
 * Beside microTVM's messages it knows numbered ones (type 0x20), which a client repeats until the
 * answer arrives: `u16 number` stands before the packet and a CRC-32 of the whole message behind
 * it. A request that comes again is not executed again; its answer is sent again. */
#ifndef TENON_MICRO_SERVER_H
#define TENON_MICRO_SERVER_H

#include "micro_frame.h"
#include "micro_subject.h"
#include "micro_values.h"

#ifdef __cplusplus
extern "C" {
#endif

enum
{
    kMicroStart = 0x00,
    kMicroStarted = 0x01,
    kMicroTerminate = 0x02,
    kMicroLog = 0x03,
    kMicroNormal = 0x10,
    kMicroNumbered = 0x20
};

enum
{
    kMicroVersion = 1,
    kMicroFrameOverhead = 11, /* start, length, CRC and room for escapes, as microTVM counts it */
    kMicroMessageHead = 3,    /* session and type */
    kMicroNumberBytes = 6,    /* number and CRC-32 */
    kMicroMostArrays = 16
};

/** Buffers for packets of up to `size` bytes on the line are this large. */
#define MICRO_BUFFER_BYTES(size) ((size) + kMicroMessageHead + kMicroNumberBytes)

typedef struct
{
    uint32_t offset, size; /* in the subject's arrays; size 0: free */
} micro_block;

/** What runtime.RPCTimeEvaluator was asked for last. */
typedef struct
{
    uint32_t function;
    int32_t number, repeat, min_repeat_ms, limit_zero;
} micro_timing;

/** Since the board started. */
typedef struct
{
    uint32_t frames, bad_frames, repeated;
    uint32_t runs;
    uint64_t run_ns;
    uint32_t array_peak;
} micro_counters;

typedef struct
{
    const micro_subject* subject;
    micro_sink sink;
    void* context;
    uint32_t packet_bytes; /* of the largest packet on the line */
    micro_unframer unframer;
    uint16_t session; /* 0: none */
    uint8_t nonce;
    uint8_t has_answer; /* to the request `number` */
    uint16_t number;
    micro_writer reply;
    micro_arguments arguments;
    micro_block blocks[kMicroMostArrays];
    micro_timing timing;
    micro_counters counters;
} micro_server;

/** `request` and `reply` have MICRO_BUFFER_BYTES(packet_bytes). Tells a client that may be there
 * that the board has started anew. */
void micro_server_begin(micro_server* server, const micro_subject* subject, micro_sink sink,
                        void* context, uint8_t* request, uint8_t* reply, uint32_t packet_bytes);
/** Takes what came over the line and answers what is complete. */
void micro_server_take(micro_server* server, const uint8_t* bytes, size_t size);
/** A line of text for the client's log. */
void micro_server_log(micro_server* server, const char* text);

#ifdef __cplusplus
}
#endif

#endif
