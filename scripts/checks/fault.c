/* A library for LD_PRELOAD that makes reads or writes of one file fail, as a broken disk or a full one does.
 *
 *   FAULT=CALL:ERROR:BYTES:NAME    CALL is read or write, ERROR is EIO or ENOSPC; what goes beyond so many bytes of a
 *                                  file whose path holds NAME fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic long long passed;

/* Whether a call fails that begins at a byte; one that only reaches into what is broken is made shorter. */
static int fails(const char *call, int file, long long begin, size_t *count)
{
    const char *fault = getenv("FAULT");
    size_t length = strlen(call);
    if (!fault || strncmp(fault, call, length) || fault[length] != ':') return 0;
    fault += length + 1;
    int error = strncmp(fault, "EIO:", 4) ? ENOSPC : EIO;
    const char *bytes = strchr(fault, ':');
    const char *name = bytes ? strchr(bytes + 1, ':') : NULL;
    if (!name) return 0;
    long long broken = atoll(bytes + 1);
    if (begin + (long long) *count <= broken) return 0;
    char link[64], path[PATH_MAX + 1];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, PATH_MAX);
    if (size < 0) return 0;
    path[size] = 0;
    if (!strstr(path, name + 1)) return 0;
    if (begin < broken) {
        *count = broken - begin;
        return 0;
    }
    errno = error;
    return 1;
}

#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

ssize_t pread(int file, void *to, size_t count, off_t at)
{
    return fails("read", file, at, &count) ? -1 : REAL(pread)(file, to, count, at);
}

ssize_t pread64(int file, void *to, size_t count, off64_t at)
{
    return fails("read", file, at, &count) ? -1 : REAL(pread64)(file, to, count, at);
}

ssize_t read(int file, void *to, size_t count)
{
    if (fails("read", file, passed, &count)) return -1;
    ssize_t result = REAL(read)(file, to, count);
    if (result > 0) passed += result;
    return result;
}

ssize_t pwrite(int file, const void *from, size_t count, off_t at)
{
    return fails("write", file, at, &count) ? -1 : REAL(pwrite)(file, from, count, at);
}

ssize_t pwrite64(int file, const void *from, size_t count, off64_t at)
{
    return fails("write", file, at, &count) ? -1 : REAL(pwrite64)(file, from, count, at);
}

ssize_t write(int file, const void *from, size_t count)
{
    if (fails("write", file, passed, &count)) return -1;
    ssize_t result = REAL(write)(file, from, count);
    if (result > 0) passed += result;
    return result;
}
