#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks a small Debian system of another processor: what `tenon board add --virtual` runs.
#
# usage: make_system.sh ARCHITECTURE FOLDER CACHE     an empty FOLDER only fills the cache
#
# Packages come from the machine's own Debian sources through a private state of apt in CACHE: the
# machine's package lists and configuration stay as they are, no maintainer script runs, and no root
# is needed. FOLDER appears only when it is complete.
set -eu
architecture=$1 folder=$2 cache=$3

mkdir -p "$cache/lists/partial" "$cache/archives/partial" "$cache/dpkg"
cache=$(cd "$cache" && pwd) # apt takes relative folders from the root
: > "$cache/dpkg/status"
sources=/etc/apt/sources.list.d/debian.sources
[ -f $sources ] || sources=/etc/apt/sources.list
apt() {
    apt-get -qq -o APT::Architecture="$architecture" -o APT::Architectures::="$architecture" \
        -o Dir::State="$cache" -o Dir::State::lists="$cache/lists" \
        -o Dir::State::status="$cache/dpkg/status" -o Dir::Cache="$cache" \
        -o Dir::Cache::archives="$cache/archives" -o Dir::Cache::pkgcache= \
        -o Dir::Cache::srcpkgcache= -o Dir::Etc::sourcelist=$sources \
        -o Dir::Etc::sourceparts=/nonexistent -o Acquire::Languages=none \
        -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=false \
        -o Debug::NoLocking=true -o Acquire::Retries=2 "$@"
}
packages="base-files bash coreutils dash findutils grep hostname libc-bin libstdc++6 sed"
# A mirror may be out of step for a while: what it has may still be enough.
refresh() { apt update || echo "some package lists failed" >&2; }
# shellcheck disable=SC2086
fetch() { apt -y --download-only install $packages; }
find "$cache/lists" -name '*_Packages*' | grep -q . || refresh
# Lists of another month name packages that are gone.
fetch || { refresh && fetch; } || {
    echo "the packages of its system cannot be downloaded; is this computer online, and does" \
        "$sources name a mirror that has $architecture?" >&2
    exit 1
}
[ -n "$folder" ] || exit 0

part=$folder.part
rm -rf "$part"
mkdir -p "$part/usr/bin" "$part/usr/sbin" "$part/usr/lib"
for name in bin sbin lib; do ln -s usr/$name "$part/$name"; done
for package in "$cache"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -C "$part" -x --keep-directory-symlink --no-same-owner \
        --exclude=./usr/share/man --exclude=./usr/share/doc --exclude=./usr/share/locale \
        --exclude=./usr/share/info --exclude='./usr/lib/*/gconv' --exclude='./lib/*/gconv'
done
mkdir -p "$part/proc" "$part/sys" "$part/dev" "$part/tmp" "$part/home/pi" "$part/root" "$part/etc"
[ -e "$part/usr/bin/sh" ] || ln -s dash "$part/usr/bin/sh"
echo 'root:x:0:0:root:/home/pi:/bin/bash' > "$part/etc/passwd"
echo 'root:x:0:' > "$part/etc/group"
echo '127.0.0.1 localhost' > "$part/etc/hosts"
chmod 1777 "$part/tmp"
rm -rf "$folder"
mv "$part" "$folder"
