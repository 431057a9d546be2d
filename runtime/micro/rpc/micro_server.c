/* SPDX-License-Identifier: MIT-0 */
/* The session: who talks to us, and whether we have answered already. */
#include "micro_server.h"

#include <string.h>

#include "micro_answer.h"

static uint32_t word16(const uint8_t* at) { return at[0] | (uint32_t)at[1] << 8; }

static uint32_t word32(const uint8_t* at) { return word16(at) | word16(at + 2) << 16; }

static void put_head(uint8_t* head, uint16_t session, uint8_t type)
{
    head[0] = (uint8_t)session;
    head[1] = (uint8_t)(session >> 8);
    head[2] = type;
}

static void send(micro_server* self, uint16_t session, uint8_t type, const void* body, size_t size)
{
    micro_framer framer = {self->sink, self->context, 0};
    uint8_t head[kMicroMessageHead];
    put_head(head, session, type);
    micro_frame_begin(&framer, (uint32_t)(sizeof head + size));
    micro_frame_put(&framer, head, sizeof head);
    micro_frame_put(&framer, body, size);
    micro_frame_end(&framer);
}

static void send_numbered(micro_server* self)
{
    micro_framer framer = {self->sink, self->context, 0};
    uint8_t head[kMicroMessageHead + 2], tail[4];
    put_head(head, self->session, kMicroNumbered);
    head[3] = (uint8_t)self->number;
    head[4] = (uint8_t)(self->number >> 8);
    const uint32_t crc =
        micro_crc32(micro_crc32(0, head, sizeof head), self->reply.bytes, self->reply.size);
    for (int i = 0; i < 4; ++i) tail[i] = (uint8_t)(crc >> (8 * i));
    micro_frame_begin(&framer, (uint32_t)(sizeof head + self->reply.size + sizeof tail));
    micro_frame_put(&framer, head, sizeof head);
    micro_frame_put(&framer, self->reply.bytes, self->reply.size);
    micro_frame_put(&framer, tail, sizeof tail);
    micro_frame_end(&framer);
}

static void end_session(micro_server* self)
{
    self->session = 0;
    self->has_answer = 0;
    micro_release_all(self);
}

static void start_session(micro_server* self, const uint8_t* message, size_t size)
{
    const uint8_t version = kMicroVersion;
    if (size != kMicroMessageHead + 1 || message[0] == 0 || message[1] != 0 ||
        message[kMicroMessageHead] != kMicroVersion)
        return;
    end_session(self);
    self->nonce = micro_next_nonce(self->nonce);
    self->session = (uint16_t)(message[0] | self->nonce << 8);
    send(self, self->session, kMicroStarted, &version, 1);
}

static void take_normal(micro_server* self, const uint8_t* message, size_t size)
{
    self->has_answer = 0; /* the reply's memory is used anew */
    if (micro_answer(self, message + kMicroMessageHead, size - kMicroMessageHead))
        send(self, self->session, kMicroNormal, self->reply.bytes, self->reply.size);
    else
        end_session(self);
}

static void take_numbered(micro_server* self, const uint8_t* message, size_t size)
{
    const size_t around = kMicroMessageHead + kMicroNumberBytes;
    if (size < around || micro_crc32(0, message, size - 4) != word32(message + size - 4)) {
        ++self->counters.bad_frames;
        return;
    }
    const uint16_t number = (uint16_t)word16(message + kMicroMessageHead);
    if (self->has_answer && number == self->number) {
        micro_framer framer = {self->sink, self->context, 0};
        ++self->counters.repeated;
        micro_frame_idle(
            &framer); /* what the answer was cut short by does not take its first byte */
        send_numbered(self);
        return;
    }
    self->number = number;
    self->has_answer = 1;
    if (micro_answer(self, message + kMicroMessageHead + 2, size - around))
        send_numbered(self);
    else
        end_session(self);
}

static void take_message(micro_server* self, const uint8_t* message, size_t size)
{
    if (size < kMicroMessageHead) return;
    const uint16_t session = (uint16_t)word16(message);
    const uint8_t type = message[2];
    if (type == kMicroStart) {
        start_session(self, message, size);
    } else if (type == kMicroTerminate) {
        if (session == 0 || session == self->session) end_session(self);
    } else if (type == kMicroNormal || type == kMicroNumbered) {
        if (session == 0 || session != self->session)
            send(self, session, kMicroTerminate, NULL, 0); /* of a board that has started anew */
        else if (type == kMicroNormal)
            take_normal(self, message, size);
        else
            take_numbered(self, message, size);
    }
}

void micro_server_begin(micro_server* self, const micro_subject* subject, micro_sink sink,
                        void* context, uint8_t* request, uint8_t* reply, uint32_t packet_bytes)
{
    micro_framer framer = {sink, context, 0};
    memset(self, 0, sizeof *self);
    self->subject = subject;
    self->sink = sink;
    self->context = context;
    self->packet_bytes = packet_bytes;
    self->reply.bytes = reply;
    self->reply.capacity = packet_bytes;
    self->nonce = (uint8_t)subject->nanoseconds();
    micro_unframer_begin(&self->unframer, request, MICRO_BUFFER_BYTES(packet_bytes));
    micro_frame_idle(&framer);
    send(self, 0, kMicroTerminate, NULL, 0);
}

void micro_server_take(micro_server* self, const uint8_t* bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        const micro_frame_event event = micro_unframer_take(&self->unframer, bytes[i]);
        if (event == kMicroFrameBad) ++self->counters.bad_frames;
        if (event != kMicroFrameWhole) continue;
        ++self->counters.frames;
        take_message(self, self->unframer.buffer, self->unframer.size);
    }
}

void micro_server_log(micro_server* self, const char* text)
{
    send(self, 0, kMicroLog, text, strlen(text));
}
