#!/bin/sh
# SPDX-License-Identifier: MIT-0
# usage: emulate.sh MACHINE IMAGE PORT    starts a board with IMAGE in its flash, its line at PORT
#        emulate.sh off PORT              ends it
# MACHINE is one of QEMU's, started by EMULATOR's words; `host` runs the image here. PORT is a link to a pseudo terminal, which
# programs open like a serial port. A board that was at PORT before ends, as one does that is flashed.
set -eu

stop() {
    if [ -s "$1.pid" ]; then kill "$(cat "$1.pid")" 2>/dev/null || true; fi
    rm -f "$1" "$1.pid" "$1.log"
}

if [ "$1" = off ]; then stop "$2"; exit 0; fi
machine=$1 image=$2 port=$3
stop "$port"
: >"$port.log" # it is read below, perhaps before what starts here opens it

if [ "$machine" = host ]; then
    # The program has the terminal's master as standard input and output, and keeps its slave open:
    # a client that hangs up ends nothing.
    setsid python3 -c '
import os, pty, sys, tty
image, port = sys.argv[1:]
ours, theirs = pty.openpty()
tty.setraw(theirs)
os.symlink(os.ttyname(theirs), port)
os.set_inheritable(theirs, True)
os.dup2(ours, 0)
os.dup2(ours, 1)
os.execv(image, [image])' "$image" "$port" >"$port.log" 2>&1 </dev/null &
    echo $! >"$port.pid"
else
    # Deterministic: an instruction takes 64 ns of the board's time.
    emulator=${EMULATOR:-qemu-system-arm -M $machine -display none -monitor none
        -icount shift=6,sleep=off -semihosting-config enable=on,target=native}
    # shellcheck disable=SC2086 # words
    setsid $emulator -serial pty -kernel "$image" >"$port.log" 2>&1 </dev/null &
    echo $! >"$port.pid"
fi

attempt=0
while [ "$attempt" -lt 100 ]; do
    attempt=$((attempt + 1))
    line=$(sed -n 's/^char device redirected to \([^ ]*\).*/\1/p' "$port.log")
    if [ -n "$line" ]; then ln -sf "$line" "$port"; fi
    if [ -e "$port" ]; then exit 0; fi
    sleep 0.2
done
cat "$port.log" >&2
stop "$port"
exit 1
