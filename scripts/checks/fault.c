/* A library for LD_PRELOAD that makes reads or writes of one file fail, as a broken disk or a full one does, or tells of
 * another file system.
 *
 *   FAULT=CALL:ERROR:BYTES:NAME    CALL is read or write, ERROR is EIO or ENOSPC; what goes beyond so many bytes of a
 *                                  file whose path holds NAME fails. The path of a file without a name ends with # and
 *                                  a number; for any other NAME, there are no files without a name.
 *   FAULT=unnamed:ERROR           a file without a name cannot be made; ERROR is EOPNOTSUPP, EISDIR or EINVAL.
 *   FAULT=filesystem:NUMBER        every file system is of this type, as in linux/magic.h.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

static _Atomic long long passed;

/* What follows "CALL:" in FAULT; NULL where that is of another call. */
static const char *fault_of(const char *call)
{
    const char *fault = getenv("FAULT");
    size_t length = strlen(call);
    return fault && !strncmp(fault, call, length) && fault[length] == ':' ? fault + length + 1 : NULL;
}

/* The NAME of a fault of reads or writes. */
static const char *name_of(const char *fault)
{
    const char *bytes = fault ? strchr(fault, ':') : NULL;
    const char *name = bytes ? strchr(bytes + 1, ':') : NULL;
    return name ? name + 1 : NULL;
}

/* Whether a call fails that begins at a byte; one that only reaches into what is broken is made shorter. */
static int fails(const char *call, int file, long long begin, size_t *count)
{
    const char *fault = fault_of(call), *name = name_of(fault);
    if (!name) return 0;
    int error = strncmp(fault, "EIO:", 4) ? ENOSPC : EIO;
    long long broken = atoll(strchr(fault, ':') + 1);
    if (begin + (long long) *count <= broken) return 0;
    char link[64], path[PATH_MAX + 1];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, PATH_MAX);
    if (size < 0) return 0;
    path[size] = 0;
    if (!strstr(path, name)) return 0;
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

/* The error of making a file without a name; 0 where that works. */
static int unnamed_error(void)
{
    const char *fault = fault_of("unnamed"), *name = name_of(fault_of("write"));
    if (!fault) return name && !strchr(name, '#') ? EOPNOTSUPP : 0;
    return !strcmp(fault, "EISDIR") ? EISDIR : !strcmp(fault, "EINVAL") ? EINVAL : EOPNOTSUPP;
}

int openat(int folder, const char *path, int flags, ...)
{
    int is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    mode_t mode = 0;
    if (is_unnamed || flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    int error = is_unnamed ? unnamed_error() : 0;
    if (error) {
        errno = error;
        return -1;
    }
    return REAL(openat)(folder, path, flags, mode);
}

int statfs(const char *path, struct statfs *status)
{
    const char *type = fault_of("filesystem");
    int result = REAL(statfs)(path, status);
    if (result == 0 && type) status->f_type = strtol(type, NULL, 0);
    return result;
}
