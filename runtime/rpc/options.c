/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of tenon-rpc-server. */
#include "options.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "greeting.h"

enum
{
    kIdleMs = 600 * 1000
};

static const char kUsage[] =
    "usage: tenon-rpc-server --fd N [--trust-paths | --trust-path PATH]\n"
    "       tenon-rpc-server [--host ADDRESS [--trust-network]] [--port N]\n"
    "                        [--key TEXT [--tracker ADDRESS:PORT] |\n"
    "                         --attended [--tidy] [--silence N] [--trust-paths | --trust-path "
    "PATH]]\n"
    "                        [--self SHA256]\n"
    "Serves the session on socket N and ends with it, or listens for one session after another.\n"
    "  --trust-paths  the client may load any file by absolute path, not only what it uploads\n"
    "  --trust-path P the same of this file, or the files in this folder\n"
    "  --memory N     MiB of data that a session may have (default: what the machine has, 0: no "
    "limit)\n"
    "  --file-size N  MiB of each file that a session may have (default 2048, 0: no limit)\n"
    "  --idle N       seconds that a client may keep a session without using it (default 600,\n"
    "                 0: no limit)\n"
    "  --greeting N   milliseconds for a client to say its key (default 10000)\n"
    "  --host ADDRESS to listen on (default 127.0.0.1: this computer only); who reaches it runs "
    "code\n"
    "  --trust-network  needed with a --host that others can reach, in plain text\n"
    "  --port N       port to listen on (default 9090, 0: any free port)\n"
    "  --key TEXT     clients must ask for this key\n"
    "  --tracker A:P  offer this server there as TEXT; clients must ask the tracker for it\n"
    "  --attended     the key is the first line of standard input, whose end ends the server\n"
    "  --silence N    so does N seconds without a line of it (default 0: no limit)\n"
    "  --self SHA256  of this program's file; starts only when that is so\n"
    "  --tidy         removes the working folder at that end\n"
    "  --no-sandbox   sessions may start processes, open sockets and reach all files\n";

typedef struct
{
    int count;
    char** words;
    int at;
} reader;

static void refuse(const char* why)
{
    fprintf(stderr, "tenon-rpc-server: %s\n", why);
    exit(2);
}

static void fail_with_usage(void)
{
    fputs(kUsage, stderr);
    exit(2);
}

/* The word after the current one. */
static char* next(reader* in)
{
    if (in->at + 1 >= in->count) fail_with_usage();
    return in->words[++in->at];
}

static int number(reader* in, int most)
{
    char* end = NULL;
    const char* text = next(in);
    const long value = text[0] >= '0' && text[0] <= '9' ? strtol(text, &end, 10) : -1;
    if (!end || *end || value < 0 || value > most) fail_with_usage();
    return (int)value;
}

/* A copy; the text itself becomes unreadable for `ps`. */
static const char* secret(reader* in)
{
    char* text = next(in);
    const char* copy = strdup(text);
    memset(text, '*', strlen(text));
    if (!copy || strlen(copy) > kTenonMostKeyBytes) refuse("a key has at most 256 bytes");
    return copy;
}

static bool read_number(const char* word, reader* in, tenon_server_options* out)
{
    const struct
    {
        const char* name;
        int* value;
        int most;
        int unit;
    } numbers[] = {
        {"--fd", &out->fd, 65535, 1},
        {"--port", &out->port, 65535, 1},
        {"--memory", &out->memory_mib, 1 << 24, 1},
        {"--file-size", &out->file_mib, 1 << 24, 1},
        {"--silence", &out->silence_s, 1 << 20, 1},
        {"--idle", &out->idle_ms, 1 << 20, 1000},
        {"--greeting", &out->greeting_ms, 1 << 20, 1},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        if (strcmp(word, numbers[i].name) != 0) continue;
        *numbers[i].value = number(in, numbers[i].most) * numbers[i].unit;
        return true;
    }
    return false;
}

static bool read_text(const char* word, reader* in, tenon_server_options* out)
{
    const struct
    {
        const char* name;
        const char** value;
    } texts[] = {{"--host", &out->host},
                 {"--tracker", &out->tracker},
                 {"--trust-path", &out->path},
                 {"--self", &out->digest}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        if (strcmp(word, texts[i].name) != 0) continue;
        *texts[i].value = next(in);
        return true;
    }
    if (strcmp(word, "--key") != 0) return false;
    out->key = secret(in);
    return true;
}

static bool read_flag(const char* word, tenon_server_options* out)
{
    const bool is_of_paths = strcmp(word, "--trust-paths") == 0;
    const bool is_free = strcmp(word, "--no-sandbox") == 0;
    const struct
    {
        const char* name;
        bool* value;
    } flags[] = {{"--attended", &out->is_attended},
                 {"--tidy", &out->is_tidy},
                 {"--trust-network", &out->trusts_network}};
    if (is_of_paths) out->path = "/";
    if (is_free) out->is_confined = false;
    if (is_of_paths || is_free) return true;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; ++i) {
        if (strcmp(word, flags[i].name) != 0) continue;
        *flags[i].value = true;
        return true;
    }
    return false;
}

/* Mistakes that would be felt much later, or by others. */
static void check(const tenon_server_options* options)
{
    struct in_addr address;
    if (options->path && options->path[0] != '/') refuse("--trust-path wants an absolute path");
    if (options->is_attended && options->tracker)
        refuse("--attended and --tracker exclude each other");
    if (options->fd >= 0) return;
    if (options->path && !options->is_attended)
        refuse("--trust-paths is for clients of this user: with --fd or --attended");
    if (inet_pton(AF_INET, options->host, &address) != 1)
        refuse("--host wants a numeric IPv4 address of this computer, as 127.0.0.1 or 0.0.0.0");
    if (ntohl(address.s_addr) >> 24 != 127 && !options->trusts_network)
        refuse("the protocol is plain text: whoever reaches that address may run code here; say "
               "--trust-network if that is wanted");
}

tenon_server_options tenon_server_options_read(int argc, char** argv)
{
    tenon_server_options out = {.fd = -1,
                                .port = 9090,
                                .host = "127.0.0.1",
                                .key = "",
                                .memory_mib = -1,
                                .file_mib = 2048,
                                .idle_ms = -1,
                                .greeting_ms = 10 * 1000,
                                .is_confined = true};
    reader in = {.count = argc, .words = argv};
    for (in.at = 1; in.at < argc; ++in.at) {
        const char* word = argv[in.at];
        if (strcmp(word, "--help") == 0) {
            fputs(kUsage, stdout);
            exit(0);
        }
        if (!read_number(word, &in, &out) && !read_text(word, &in, &out) && !read_flag(word, &out))
            fail_with_usage();
    }
    check(&out);
    /* A client of our own user has a window open, and is watched in other ways. */
    if (out.idle_ms < 0) out.idle_ms = out.fd >= 0 || out.is_attended ? 0 : kIdleMs;
    return out;
}
