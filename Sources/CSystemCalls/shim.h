// Calls of glibc 2.28 and later that it declares under _GNU_SOURCE only, which Swift's Glibc module does not set.

#ifndef CSYSTEMCALLS_SHIM_H
#define CSYSTEMCALLS_SHIM_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <unistd.h>

int renameat2(int old_folder, const char *old_path, int new_folder, const char *new_path, unsigned int flags);
int fallocate64(int file, int mode, long long offset, long long length);
int sched_getaffinity(int process, size_t mask_size, void *mask);
int mkostemp(char *name, int flags);
int malloc_trim(size_t padding);
int memfd_create(const char *name, unsigned int flags);
ssize_t tee(int from, int to, size_t count, unsigned int flags);
long syscall(long number, ...);

/// rename(2), refused with EEXIST where something stands at the new path; RENAME_NOREPLACE is 1, AT_FDCWD is -100.
static inline int csc_rename_exclusively(const char *old_path, const char *new_path) {
    return renameat2(-100, old_path, -100, new_path, 1);
}

/// fallocate(2) with FALLOC_FL_INSERT_RANGE, which is 0x20; returns 0, or -1 with errno.
static inline int csc_insert_range(int file, long long offset, long long length) {
    return fallocate64(file, 0x20, offset, length);
}

/// The processors this process may run on, as a bit mask; returns 0, or -1 with errno.
static inline int csc_get_affinity(void *mask, size_t mask_size) {
    return sched_getaffinity(0, mask_size, mask);
}

/// open(2) with O_TMPFILE: a file without a name in a folder, or -1 with errno.
static inline int csc_open_unnamed(const char *folder, unsigned int permissions) {
    return open(folder, __O_TMPFILE | O_RDWR | O_CLOEXEC, permissions);
}

/// statfs(2): whether a folder is on one of the local file systems with files that have no name, by the numbers of
/// linux/magic.h. Of those on a network, some say that they have them and then ask the server, or fail in the end.
static inline int csc_has_unnamed_files(const char *folder) {
    struct statfs status;
    if (statfs(folder, &status) != 0) return 0;
    switch ((unsigned int)status.f_type) {
    case 0xEF53:      // ext2, ext3, ext4
    case 0x58465342:  // XFS
    case 0x9123683E:  // Btrfs
    case 0x01021994:  // tmpfs
    case 0x794C7630:  // overlayfs
    case 0xF2F52010:  // F2FS
    case 0x2FC12FC1:  // ZFS
    case 0xCA451A4E:  // bcachefs
        return 1;
    default: return 0;
    }
}

/// openat2(2), which glibc has no function for, with RESOLVE_NO_MAGICLINKS (0x02) and RESOLVE_BENEATH (0x08): a file for
/// reading below a folder, or -1 with errno; EXDEV where the path leads out of it. The call's number is 437 everywhere.
static inline int csc_open_beneath(int folder, const char *path) {
    const struct { unsigned long long flags, mode, resolve; } how = {O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0x02 | 0x08};
    return (int)syscall(437, folder, path, &how, sizeof how);
}

/// open(2) of what a name stands for, without reading it and without following a link: a descriptor, or -1 with errno.
/// O_PATH is 010000000.
static inline int csc_open_place(int folder, const char *name) {
    return openat(folder, name, 010000000 | O_NOFOLLOW | O_CLOEXEC);
}

/// openat(2) for reading, refused with ELOOP where the name is a link: a descriptor, or -1 with errno.
static inline int csc_open_plain(int folder, const char *name, int more) {
    return openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | more);
}

/// memfd_create(2): memory of a size that nobody can change any more, or -1 with errno. The flags are MFD_CLOEXEC and
/// MFD_ALLOW_SEALING, then F_ADD_SEALS (1033) with F_SEAL_SEAL, F_SEAL_SHRINK and F_SEAL_GROW.
static inline int csc_make_shared_memory(long long size) {
    int memory = memfd_create("mediatool", 1 | 2);
    if (memory >= 0 && (ftruncate(memory, size) != 0 || fcntl(memory, 1033, 1 | 2 | 4) != 0)) {
        close(memory);
        return -1;
    }
    return memory;
}

/// malloc_trim(3): gives memory back that nothing uses.
static inline void csc_trim_heap(void) { malloc_trim(0); }

/// tee(2): copies what waits in a pipe into another one and leaves it there; returns the bytes, or -1 with errno.
static inline long csc_tee(int from, int to, size_t count) {
    return tee(from, to, count, 0);
}

#endif
