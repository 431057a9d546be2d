/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of tenon-rpc-server. */
#ifndef TENON_RUNTIME_RPC_OPTIONS_H
#define TENON_RUNTIME_RPC_OPTIONS_H

#include <stdbool.h>

typedef struct
{
    int fd; /* -1: listen */
    int port;
    const char* host;
    const char* key;
    const char* tracker; /* NULL: none */
    const char* digest;  /* of this program's file; NULL: whatever it is */
    const char* path;    /* what the client may load by absolute path; NULL: nothing */
    int memory_mib;      /* 0: no limit, -1: as much as there is */
    int file_mib;        /* 0: no limit */
    int silence_s;       /* 0: no limit */
    int idle_ms;         /* 0: no limit */
    int greeting_ms;
    bool is_attended;
    bool is_tidy;
    bool is_confined;
    bool trusts_network;
} tenon_server_options;

/** Ends the program with its usage when they are wrong or ask for it. Texts that are secret are
 * wiped from `argv`, where everybody on the machine may read them. */
tenon_server_options tenon_server_options_read(int argc, char** argv);

#endif
