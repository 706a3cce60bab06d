#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// open(2), for libdispatch in a sandbox. It looks at its threads in /proc/NUMBER/stat now and then, and crashes where it
/// cannot. Landlock has no rule for threads that do not exist yet, but the same file below /proc/self/task may be read.
int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    int file = openat(AT_FDCWD, path, flags, mode);
    if (file >= 0 || errno != EACCES || strncmp(path, "/proc/", 6) != 0) return file;
    int thread, length = 0;
    char own[64];
    if (sscanf(path, "/proc/%9d/stat%n", &thread, &length) == 1 && length > 0 && path[length] == 0) {
        snprintf(own, sizeof own, "/proc/self/task/%d/stat", thread);
        file = openat(AT_FDCWD, own, flags, mode);
        if (file < 0) errno = EACCES;
    }
    return file;
}
