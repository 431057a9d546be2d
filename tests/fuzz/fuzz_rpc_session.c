/* SPDX-License-Identifier: Apache-2.0 */
/* A session of the RPC server: any packets are answered or end the session. In C because the
 * session's own structures are. */
#include "runtime/rpc/session.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    tenon_rpc_session session = {0};
    tenon_rpc_session_start(&session, "");
    session.memory_limit = 1 << 20;
    tenon_reader reader = tenon_reader_of(data, size);
    bool is_open = true;
    while (is_open && tenon_reader_left(&reader) >= 8) {
        const uint64_t length = tenon_read_u64(&reader);
        const uint8_t* packet = tenon_read_bytes(&reader, length);
        if (!packet || length < 4) break;
        tenon_writer reply = tenon_writer_of(1 << 20);
        is_open = tenon_rpc_session_handle(&session, packet, (size_t)length, &reply);
        tenon_writer_free(&reply);
    }
    tenon_rpc_session_end(&session);
    return 0;
}
