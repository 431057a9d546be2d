/* SPDX-License-Identifier: MIT-0 */
/* microTVM's frames on a line of bytes: `FF FD`, length, payload, CRC-16/CCITT; an FF inside is
 * sent twice. Both ends use these functions; no memory but the caller's. */
#ifndef TENON_MICRO_FRAME_H
#define TENON_MICRO_FRAME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where bytes go. */
typedef void (*micro_sink)(void* context, const uint8_t* bytes, size_t size);

/** A frame that is being written: its length is said first, its payload may come in pieces. */
typedef struct
{
    micro_sink sink;
    void* context;
    uint16_t crc;
} micro_framer;

void micro_frame_begin(micro_framer* framer, uint32_t payload_bytes);
void micro_frame_put(micro_framer* framer, const void* bytes, size_t size);
void micro_frame_end(micro_framer* framer);
/** A byte that receivers skip: what a sender starts with after a reset. */
void micro_frame_idle(micro_framer* framer);

typedef enum
{
    kMicroFrameNone,  /* the byte completes nothing */
    kMicroFrameWhole, /* a payload of `size` bytes lies in the buffer */
    kMicroFrameBad    /* what began was damaged, cut short or too long, and is dropped */
} micro_frame_event;

/** What comes in. Finds the next frame behind anything. */
typedef struct
{
    uint8_t* buffer;
    uint32_t capacity;
    uint32_t size;   /* of the payload so far */
    uint32_t length; /* of the whole payload, once it is known */
    uint16_t crc;
    uint16_t sent_crc;
    uint8_t state;
    uint8_t got; /* bytes of the length or the CRC */
    uint8_t is_escaped;
} micro_unframer;

void micro_unframer_begin(micro_unframer* unframer, uint8_t* buffer, uint32_t capacity);
micro_frame_event micro_unframer_take(micro_unframer* unframer, uint8_t byte);

/** CRC-16/CCITT (polynomial 0x1021, most significant bit first) of one more byte. */
uint16_t micro_crc16(uint16_t crc, uint8_t byte);
/** CRC-32 (IEEE 802.3) of more bytes; start with 0. Guards numbered messages besides. */
uint32_t micro_crc32(uint32_t crc, const void* bytes, size_t size);
/** Half of a session's number: the one that follows; never 0. */
uint8_t micro_next_nonce(uint8_t nonce);

#ifdef __cplusplus
}
#endif

#endif
