/* SPDX-License-Identifier: Apache-2.0 */
/* The session protocol "0.8.0": packets and argument sequences, without any input or output. */
#ifndef TENON_RUNTIME_RPC_PROTOCOL_H
#define TENON_RUNTIME_RPC_PROTOCOL_H

#include "../common/arena.h"
#include "../common/bytes.h"
#include "../include/tenon/c_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENON_RPC_VERSION "0.8.0"
#define TENON_RPC_MAX_PACKET 0x80000000u

enum
{
    kTenonRpcMagic = 0xFF271,
    kTenonRpcDuplicate = 0xFF272,
    kTenonRpcMismatch = 0xFF273
};

typedef enum
{
    kTenonRpcNone = 0,
    kTenonRpcShutdown = 1,
    kTenonRpcInitServer = 2,
    kTenonRpcCallFunc = 3,
    kTenonRpcReturn = 4,
    kTenonRpcException = 5,
    kTenonRpcCopyFromRemote = 6,
    kTenonRpcCopyToRemote = 7,
    kTenonRpcCopyAck = 8,
    kTenonRpcGetGlobalFunc = 9,
    kTenonRpcFreeHandle = 10,
    kTenonRpcDevSetDevice = 11,
    kTenonRpcDevGetAttr = 12,
    kTenonRpcDevAllocData = 13,
    kTenonRpcDevFreeData = 14,
    kTenonRpcDevStreamSync = 15,
    kTenonRpcCopyAmongRemote = 16,
    kTenonRpcDevAllocDataWithScope = 17,
    kTenonRpcDevCreateStream = 18,
    kTenonRpcDevFreeStream = 19,
    kTenonRpcDevSetStream = 20,
    kTenonRpcDevGetCurrentStream = 21,
    kTenonRpcHeartbeat = 1000 /* Tenon's own: to clients that asked for it */
} tenon_rpc_code;

/** Appends an unfinished packet; returns where it starts. Finishing fills in its length. */
size_t tenon_packet_begin(tenon_writer* writer, tenon_rpc_code code);
void tenon_packet_end(tenon_writer* writer, size_t start);
/** Bytes that follow the 8 bytes of `header`; -1 when fewer than a code or more than `maximum`. */
int64_t tenon_packet_size(const uint8_t header[8], size_t maximum);

/** Arguments as they travel. Handles of every kind are numbers in v_int64; a DLTensor's data is a
 * number too. */
typedef struct
{
    TVMValue* values;
    int* codes;
    int count;
} tenon_rpc_seq;

void tenon_write_seq(tenon_writer* writer, const TVMValue* values, const int* codes, int count);
void tenon_write_tensor(tenon_writer* writer, const DLTensor* tensor);
/** Texts are copied and terminated; bytes point into the packet. 0 or -1 with an error recorded. */
int tenon_read_seq(tenon_reader* reader, tenon_arena* arena, tenon_rpc_seq* out);
int tenon_read_tensor(tenon_reader* reader, tenon_arena* arena, DLTensor* out);

#ifdef __cplusplus
}
#endif

#endif
