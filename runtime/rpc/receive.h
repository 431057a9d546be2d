/* SPDX-License-Identifier: Apache-2.0 */
/* Files that come by standard input, into the working folder. */
#ifndef TENON_RUNTIME_RPC_RECEIVE_H
#define TENON_RUNTIME_RPC_RECEIVE_H

/** Serves lines `put BASE`, each followed by a patch of BASE (`-`: of nothing) and a line `NAME
 * SHA256` of the new file, and answers each by `stored`: the file is there, whole and verified.
 * Empty lines only say that somebody is there. Returns when `fd` ends, when nothing came for
 * `silence_s` seconds (0: never), or when something failed: it has then said `failed: why`, and
 * what follows in `fd` means nothing any more. */
void tenon_receive_files(int fd, int silence_s);

#endif
