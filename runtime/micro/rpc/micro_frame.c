/* SPDX-License-Identifier: MIT-0 */
/* Byte by byte: a UART gives no more at once. */
#include "micro_frame.h"

enum
{
    kEscape = 0xFF,
    kStart = 0xFD,
    kIdle = 0xFE,
    kFirstCrc = 0xFFFF
};

enum
{
    kOutside,
    kInLength,
    kInPayload,
    kInCrc
};

uint16_t micro_crc16(uint16_t crc, uint8_t byte)
{
    crc = (uint16_t)(crc ^ (uint16_t)(byte << 8));
    for (int bit = 0; bit < 8; ++bit)
        crc = (uint16_t)(crc & 0x8000u ? (uint32_t)(crc << 1) ^ 0x1021u : (uint32_t)crc << 1);
    return crc;
}

uint32_t micro_crc32(uint32_t crc, const void* bytes, size_t size)
{
    const uint8_t* at = bytes;
    crc = ~crc;
    for (size_t i = 0; i < size; ++i) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; ++bit) crc = crc & 1u ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    return ~crc;
}

uint8_t micro_next_nonce(uint8_t nonce)
{
    do nonce = (uint8_t)((nonce << 5 | nonce >> 5) + 1);
    while (nonce == 0);
    return nonce;
}

/* The CRC is of the bytes on the line, escapes and all. */
static void send_byte(micro_framer* framer, uint8_t byte)
{
    framer->crc = micro_crc16(framer->crc, byte);
    framer->sink(framer->context, &byte, 1);
}

static void send_escaped(micro_framer* framer, uint8_t byte)
{
    if (byte == kEscape) send_byte(framer, kEscape);
    send_byte(framer, byte);
}

void micro_frame_begin(micro_framer* framer, uint32_t payload_bytes)
{
    framer->crc = kFirstCrc;
    send_byte(framer, kEscape);
    send_byte(framer, kStart);
    for (int i = 0; i < 4; ++i) send_escaped(framer, (uint8_t)(payload_bytes >> (8 * i)));
}

void micro_frame_put(micro_framer* framer, const void* bytes, size_t size)
{
    const uint8_t* at = bytes;
    for (size_t i = 0; i < size; ++i) send_escaped(framer, at[i]);
}

void micro_frame_end(micro_framer* framer)
{
    const uint16_t crc = framer->crc;
    send_escaped(framer, (uint8_t)crc);
    send_escaped(framer, (uint8_t)(crc >> 8));
}

void micro_frame_idle(micro_framer* framer)
{
    const uint8_t byte = kIdle;
    framer->sink(framer->context, &byte, 1);
}

void micro_unframer_begin(micro_unframer* unframer, uint8_t* buffer, uint32_t capacity)
{
    const micro_unframer fresh = {.buffer = buffer, .capacity = capacity};
    *unframer = fresh;
}

static void start_frame(micro_unframer* self)
{
    self->state = kInLength;
    self->got = 0;
    self->size = 0;
    self->length = 0;
    self->sent_crc = 0;
    self->crc = micro_crc16(micro_crc16(kFirstCrc, kEscape), kStart);
}

static micro_frame_event drop_frame(micro_unframer* self)
{
    self->state = kOutside;
    return kMicroFrameBad;
}

static micro_frame_event take_length(micro_unframer* self, uint8_t byte)
{
    self->length |= (uint32_t)byte << (8 * self->got);
    if (++self->got < 4) return kMicroFrameNone;
    if (self->length > self->capacity) return drop_frame(self);
    self->got = 0;
    self->state = self->length > 0 ? kInPayload : kInCrc;
    return kMicroFrameNone;
}

static micro_frame_event take_crc(micro_unframer* self, uint8_t byte)
{
    self->sent_crc = (uint16_t)(self->sent_crc | byte << (8 * self->got));
    if (++self->got < 2) return kMicroFrameNone;
    if (self->sent_crc != self->crc) return drop_frame(self);
    self->state = kOutside;
    return kMicroFrameWhole;
}

/* A byte of the frame, its escape gone. */
static micro_frame_event take_content(micro_unframer* self, uint8_t byte)
{
    if (self->state == kInCrc) return take_crc(self, byte);
    self->crc = micro_crc16(self->crc, byte);
    if (self->state == kInLength) return take_length(self, byte);
    self->buffer[self->size++] = byte;
    if (self->size == self->length) self->state = kInCrc;
    return kMicroFrameNone;
}

micro_frame_event micro_unframer_take(micro_unframer* self, uint8_t byte)
{
    if (!self->is_escaped) {
        self->is_escaped = byte == kEscape;
        if (self->is_escaped || self->state == kOutside) return kMicroFrameNone;
        return take_content(self, byte);
    }
    self->is_escaped = 0;
    if (byte == kStart) {
        const uint8_t was = self->state;
        start_frame(self);
        return was == kOutside ? kMicroFrameNone : kMicroFrameBad;
    }
    if (self->state == kOutside) {
        self->is_escaped = byte == kEscape; /* of noise; the frame may begin with this one */
        return kMicroFrameNone;
    }
    if (byte == kIdle) return kMicroFrameNone;
    if (byte != kEscape) return drop_frame(self);
    if (self->state != kInCrc) self->crc = micro_crc16(self->crc, kEscape);
    return take_content(self, kEscape);
}
