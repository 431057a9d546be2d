#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages of a build in a fresh Debian 12, uses them there, and purges them.
# usage: try_packages.sh PACKAGES_FOLDER       as root; a mirror of Debian must be reachable
set -euo pipefail
packages=$(cd "$1" && pwd)
root=$(mktemp -d)
inside() { chroot "$root" env HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
clean_up() {
    umount -l "$root"/dev "$root"/proc 2>/dev/null || true
    rm -rf --one-file-system "$root"
}
trap clean_up EXIT

mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$root"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
cp "$packages"/*.deb "$root/tmp/"
mount --bind /proc "$root/proc"
mount --rbind /dev "$root/dev"
inside apt-get update -qq
inside sh -c 'apt-get install -y -qq --no-install-recommends /tmp/tenon_*.deb >/dev/null'

sample=/usr/share/tenon/sample/digits
inside tenon verify "$sample"
inside tenon compile "$sample/model.onnx" -o /tmp/m.so --target "llvm -mtriple=riscv64-linux-gnu" >/dev/null
inside sh -c 'apt-get install -y -qq --no-install-recommends openssh-server openssh-client qemu-user-static proot \
    >/dev/null 2>&1'
inside tenon board add --virtual rpi4 >/dev/null
inside tenon deploy "$sample/model.onnx" --board rpi4 | grep median

inside sh -c 'apt-get install -y -qq --no-install-recommends /tmp/tenon-workbench_*.deb xvfb xauth >/dev/null 2>&1'
inside xvfb-run -a tenon-workbench sample --screenshot /tmp/window.png 2>/dev/null
test -s "$root/tmp/window.png"

inside sh -c 'apt-get purge -y -qq tenon tenon-workbench >/dev/null'
left=$(inside find /etc /opt /usr /var -xdev -name '*tenon*')
[ -z "$left" ] || { printf 'left after the purge:\n%s\n' "$left"; exit 1; }
echo "installed, used on a virtual board and in a window, purged"
