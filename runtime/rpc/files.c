/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a session. */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/bytes.h"
#include "../common/error.h"

static bool is_file_name(const char* name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

char* tenon_folder_list(const char* path)
{
    tenon_writer names = tenon_writer_of(1 << 20);
    DIR* folder = opendir(path);
    for (struct dirent* entry; folder && (entry = readdir(folder));) {
        if (!is_file_name(entry->d_name)) continue;
        if (names.size) tenon_write_u8(&names, ',');
        tenon_write_bytes(&names, entry->d_name, strlen(entry->d_name));
    }
    if (folder) closedir(folder);
    tenon_write_u8(&names, 0);
    if (folder && !names.failed) return (char*)names.data;
    tenon_writer_free(&names);
    tenon_fail("cannot list the folder");
    return NULL;
}

int tenon_file_path(const char* folder, const char* name, char out[kTenonPathCapacity])
{
    if (name[0] == 0 || name[0] == '.' || strchr(name, '/'))
        return tenon_fail("`%s` is not a plain file name", name);
    if (snprintf(out, kTenonPathCapacity, "%s/%s", folder, name) >= kTenonPathCapacity)
        return tenon_fail("the file name is too long");
    return 0;
}

static int write_all(int fd, const char* data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, data, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return -1;
        data += written;
        size -= (size_t)written;
    }
    return 0;
}

int tenon_file_write(const char* path, const void* data, size_t size)
{
    char part[kTenonPathCapacity + 8];
    snprintf(part, sizeof part, "%s.part", path);
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return tenon_fail("cannot write `%s`: %s", path, strerror(errno));
    int status = write_all(fd, data, size);
    if (close(fd) != 0) status = -1;
    if (status == 0 && rename(part, path) == 0) return 0;
    int reason = errno;
    unlink(part);
    return tenon_fail("cannot write `%s`: %s", path, strerror(reason));
}

static int read_all(int fd, char* data, size_t size)
{
    while (size > 0) {
        ssize_t got = read(fd, data, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        data += got;
        size -= (size_t)got;
    }
    return 0;
}

int tenon_file_read(const char* path, size_t maximum, void** data, size_t* size)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return tenon_fail("cannot read `%s`: %s", path, strerror(errno));
    int status = fstat(fd, &about);
    if (status == 0 && (!S_ISREG(about.st_mode) || (size_t)about.st_size > maximum)) status = -1;
    *size = status == 0 ? (size_t)about.st_size : 0;
    *data = malloc(*size + 1);
    if (status == 0) status = *data ? read_all(fd, *data, *size) : -1;
    close(fd);
    if (status == 0) return 0;
    free(*data);
    return tenon_fail("cannot read `%s`", path);
}

int tenon_file_remove(const char* path)
{
    return unlink(path) == 0 ? 0 : tenon_fail("cannot remove `%s`: %s", path, strerror(errno));
}
