/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine is and how it feels. */
#define _GNU_SOURCE
#include "probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../common/processors.h"

static void put(tenon_writer* out, const char* text) { tenon_write_bytes(out, text, strlen(text)); }

static void put_section(tenon_writer* out, const char* name, const char* text)
{
    put(out, "== ");
    put(out, name);
    put(out, "\n");
    put(out, text);
    put(out, "\n");
}

static const struct
{
    const char* name;
    const char* path;
} kFiles[] = {
    {"model", "/proc/device-tree/model"},
    {"cpuinfo", "/proc/cpuinfo"},
    {"meminfo", "/proc/meminfo"},
    {"governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
    {"frequency", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"},
    {"temperature", "/sys/class/thermal/thermal_zone0/temp"},
    {"load", "/proc/loadavg"},
};

/* The beginning is enough: processors are alike, and memory is told first. */
static void put_file(tenon_writer* out, const char* name, const char* path)
{
    char text[8192];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    if (size <= 0) return;
    text[size] = 0;
    put_section(out, name, text);
}

void tenon_probe(tenon_writer* out, const char* folder, const char* abilities)
{
    struct utsname system;
    struct statvfs disk;
    char text[256];
    if (uname(&system) == 0) {
        put_section(out, "machine", system.machine);
        snprintf(text, sizeof text, "%.100s %.100s", system.sysname, system.release);
        put_section(out, "kernel", text);
    }
    snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    put_section(out, "cores", text);
    snprintf(text, sizeof text, "0-%d", tenon_usable_processors() - 1);
    put_section(out, "allowed", text);
    if (statvfs(folder, &disk) == 0) {
        unsigned long long unit = disk.f_frsize ? disk.f_frsize : disk.f_bsize;
        snprintf(text, sizeof text, "filesystem 1024-blocks used available\n- %llu 0 %llu",
                 unit * disk.f_blocks / 1024, unit * disk.f_bavail / 1024);
        put_section(out, "disk", text);
    }
    for (size_t i = 0; i < sizeof kFiles / sizeof kFiles[0]; ++i)
        put_file(out, kFiles[i].name, kFiles[i].path);
    if (abilities) put_section(out, "sandbox", abilities[0] ? abilities : "none");
    tenon_write_u8(out, 0);
}
