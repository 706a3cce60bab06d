#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// MARK: Landlock

// glibc has no functions for these, and headers older than the kernel lack the later rights: landlock(7).
enum { create_ruleset = 444, add_rule = 445, restrict_self = 446 };
struct ruleset { __u64 files, network, scope; };

int csb_landlock_version(void) {
    return (int)syscall(create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

int csb_restrict_files(const char *const *readable, size_t count) {
    int version = csb_landlock_version();
    if (version < 1) return -1;
    struct ruleset rules = {.files = (1ULL << 13) - 1};
    if (version >= 2) rules.files |= 1ULL << 13;  // LANDLOCK_ACCESS_FS_REFER
    if (version >= 3) rules.files |= 1ULL << 14;  // LANDLOCK_ACCESS_FS_TRUNCATE
    if (version >= 5) rules.files |= 1ULL << 15;  // LANDLOCK_ACCESS_FS_IOCTL_DEV
    if (version >= 4) rules.network = 3;          // binding and connecting, TCP
    if (version >= 6) rules.scope = 3;            // abstract Unix sockets, signals
    size_t size = version >= 6 ? sizeof rules : version >= 4 ? offsetof(struct ruleset, scope) : sizeof rules.files;
    int set = (int)syscall(create_ruleset, &rules, size, 0);
    if (set < 0) return -1;
    for (size_t i = 0; i < count; i++) {
        int place = open(readable[i], O_PATH | O_CLOEXEC);
        if (place < 0) continue;
        struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE, .parent_fd = place};
        // A file cannot have the rights of a folder.
        struct stat status;
        if (fstat(place, &status) == 0 && S_ISDIR(status.st_mode)) rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
        long added = syscall(add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
        close(place);
        if (added < 0) goto failed;
    }
    if (syscall(restrict_self, set, 0) < 0) goto failed;
    close(set);
    return version;
failed:;
    int error = errno;
    close(set);
    errno = error;
    return -1;
}

// MARK: seccomp

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// Allowed whatever their arguments. What a codec, the Swift runtime, libdispatch and fontconfig call was found with strace over
// real files; opening is Landlock's matter. The most frequent come first.
static const int allowed[] = {
    SYS_read, SYS_pread64, SYS_futex, SYS_write, SYS_pwrite64, SYS_lseek, SYS_readv, SYS_writev, SYS_mmap, SYS_munmap,
    SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk, SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep,
    SYS_sched_yield, SYS_close, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_openat, SYS_getdents64,
    SYS_getcwd, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_fallocate,
    SYS_dup, SYS_tee, SYS_fadvise64, SYS_recvmsg, SYS_sendmsg, SYS_ppoll, SYS_eventfd2, SYS_epoll_create1, SYS_epoll_ctl,
    SYS_epoll_pwait, SYS_timerfd_create, SYS_timerfd_settime, SYS_gettimeofday, SYS_clock_getres, SYS_times, SYS_getrusage,
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_rt_sigtimedwait, SYS_restart_syscall,
    SYS_exit, SYS_exit_group, SYS_set_robust_list, SYS_rseq, SYS_membarrier, SYS_getrandom, SYS_getpid, SYS_getppid,
    SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_uname, SYS_sysinfo, SYS_sched_getaffinity,
    SYS_get_mempolicy, SYS_set_mempolicy, SYS_getpriority, SYS_pipe2,
#ifdef __x86_64__
    SYS_poll, SYS_epoll_wait, SYS_access, SYS_readlink, SYS_open, SYS_stat, SYS_lstat, SYS_time,
#endif
};

// Programs of BPF are built here one instruction after the other; a jump's targets are counted from the next instruction.
struct program {
    struct sock_filter code[sizeof allowed / sizeof *allowed * 2 + 128];
    unsigned short length;
};

static void add(struct program *program, struct sock_filter instruction) {
    if (program->length < sizeof program->code / sizeof *program->code) program->code[program->length++] = instruction;
}

static void load(struct program *program, size_t offset) {
    add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void answer(struct program *program, unsigned action) {
    add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/// Answers where the loaded word equals a value.
static void answer_if(struct program *program, unsigned value, unsigned action) {
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    answer(program, action);
}

static const size_t call_number = offsetof(struct seccomp_data, nr);

/// The place of the lower half of an argument, on machines with the low byte first; the upper half is 4 bytes further.
static size_t argument(int index) { return offsetof(struct seccomp_data, args) + (size_t)index * 8; }

/// The values that half of an argument may have.
struct condition {
    size_t place;
    unsigned char count;
    unsigned values[10];
};

/// Allows a call where all conditions hold, and refuses it with EPERM otherwise.
static void allow_where(struct program *program, int number, const struct condition *conditions, int count) {
    int length = 1;
    for (int i = 0; i < count; i++) length += conditions[i].count + 2;
    // The loaded word is the call's number again after the jump over this block only.
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, (unsigned char)length));
    for (int i = 0; i < count; i++) {
        const struct condition *condition = &conditions[i];
        load(program, condition->place);
        for (unsigned char j = 0; j < condition->count; j++)
            add(program, (struct sock_filter)BPF_JUMP(
                BPF_JMP | BPF_JEQ | BPF_K, condition->values[j], (unsigned char)(condition->count - j), 0));
        answer(program, SECCOMP_RET_ERRNO | EPERM);
    }
    answer(program, SECCOMP_RET_ALLOW);
}

int csb_has_filters(void) {
    unsigned action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int csb_restrict_calls(void) {
#ifndef ARCHITECTURE
    errno = ENOSYS;
    return -1;
#else
    static struct program program;
    program.length = 0;
    load(&program, offsetof(struct seccomp_data, arch));
    add(&program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
    answer(&program, SECCOMP_RET_KILL_PROCESS);
    load(&program, call_number);
    // Calls of x32 have this bit; the numbers below would mean others.
    add(&program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
    answer(&program, SECCOMP_RET_KILL_PROCESS);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        answer_if(&program, (unsigned)allowed[i], SECCOMP_RET_ALLOW);

    // glibc then starts its threads by clone, whose flags can be seen; a new process is refused.
    answer_if(&program, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    add(&program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4));
    load(&program, argument(0));
    add(&program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x10000, 0, 1));  // CLONE_THREAD
    answer(&program, SECCOMP_RET_ALLOW);
    answer(&program, SECCOMP_RET_ERRNO | EPERM);

    // abort(3) and signals between this process's own threads.
    unsigned self = (unsigned)getpid();
    allow_where(&program, SYS_tgkill, &(struct condition){argument(0), 1, {self}}, 1);
    // Whether a descriptor is a terminal and how wide; TIOCSTI would type into it.
    allow_where(&program, SYS_ioctl, &(struct condition){argument(1), 3, {TCGETS, TIOCGWINSZ, FIONREAD}}, 1);
    allow_where(&program, SYS_prctl, &(struct condition){argument(0), 2, {PR_SET_NAME, PR_GET_NAME}}, 1);
    // Not those that send signals to another process.
    const struct condition flags = {
        argument(1), 9, {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW}};
    allow_where(&program, SYS_fcntl, &flags, 1);
    // Limits can be read, not set: the new ones are a null pointer, in both halves. Only those of this process.
    const struct condition limits[] = {
        {argument(0), 2, {0, self}}, {argument(2), 1, {0}}, {argument(2) + 4, 1, {0}}};
    allow_where(&program, SYS_prlimit64, limits, 3);
    // The calling thread's own priority and processors.
    const struct condition priority[] = {{argument(0), 1, {PRIO_PROCESS}}, {argument(1), 1, {0}}};
    allow_where(&program, SYS_setpriority, priority, 2);
    allow_where(&program, SYS_sched_setaffinity, &(struct condition){argument(0), 1, {0}}, 1);
    answer(&program, SECCOMP_RET_ERRNO | EPERM);

    struct sock_fprog filter = {.len = program.length, .filter = program.code};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
#endif
}

// MARK: Privileges and processes

int csb_give_up_privileges(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct none[2] = {{0}};
    return (int)syscall(SYS_capset, &header, none);
}

pid_t csb_fork(void) { return fork(); }

pid_t csb_spawn(const char *path, const char *environment, size_t count, int socket, int keeps_errors) {
    char **variables = calloc(count + 1, sizeof *variables);
    if (!variables) return -1;
    for (size_t i = 0; i < count; i++, environment += strlen(environment) + 1) variables[i] = (char *)environment;
    char *const arguments[] = {(char *)path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    pid_t process = -1;
    // The socket first: its own number may be one of those that follow.
    int error = posix_spawn_file_actions_adddup2(&actions, socket, 3);
    if (!error) error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (!error && !keeps_errors) error = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, 4);
    if (!error) error = posix_spawnattr_setsigmask(&attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!error) error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!error) error = posix_spawn(&process, path, &actions, &attributes, arguments, variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(variables);
    if (!error) return process;
    errno = error;
    return -1;
}

int csb_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

void csb_close_all_but(int kept) {
    // close_range is 436 everywhere, from Linux 5.9 on.
    if ((kept <= 3 || syscall(436, 3u, (unsigned)kept - 1, 0u) == 0) && syscall(436, (unsigned)kept + 1, ~0u, 0u) == 0) return;
    long last = sysconf(_SC_OPEN_MAX);
    for (int descriptor = 3; descriptor < (last > 0 && last < 65536 ? last : 65536); descriptor++)
        if (descriptor != kept) close(descriptor);
}

void csb_silence_libraries(void) {
    // What has no function to write with discards what is written: fopencookie(3).
    FILE *nowhere = fopencookie(NULL, "w", (cookie_io_functions_t){0});
    if (nowhere) stderr = nowhere;
}

static int limit(int resource, long long value) {
    if (value < 0) return 0;
    struct rlimit now, wanted = {(rlim_t)value, (rlim_t)value};
    if (getrlimit(resource, &now) != 0) return -1;
    // Never above what the process was given.
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < wanted.rlim_max) wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
    return setrlimit(resource, &wanted);
}

int csb_limit(long long file_bytes, long long processor_seconds, long long data_bytes) {
    if (limit(RLIMIT_FSIZE, file_bytes) || limit(RLIMIT_CPU, processor_seconds) || limit(RLIMIT_DATA, data_bytes)) return -1;
    return limit(RLIMIT_CORE, 0);
}

// MARK: Packets with descriptors

enum { most_descriptors = 16 };
union control {
    char room[CMSG_SPACE(sizeof(int) * most_descriptors)];
    struct cmsghdr header;
};

ssize_t csb_send(int socket, const void *bytes, size_t length, const int *descriptors, size_t count, int waits) {
    if (count > most_descriptors) {
        errno = EINVAL;
        return -1;
    }
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union control control;
    if (count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * count);
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT));
    while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t csb_receive(int socket, void *bytes, size_t length, int *descriptors, size_t *count, int waits) {
    size_t room = *count;
    *count = 0;
    struct iovec part = {.iov_base = bytes, .iov_len = length};
    union control control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    ssize_t received;
    do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (waits ? 0 : MSG_DONTWAIT));
    while (received < 0 && errno == EINTR);
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t found = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < found; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
            if (*count < room) descriptors[(*count)++] = descriptor;
            else close(descriptor);
        }
    }
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        for (size_t i = 0; i < *count; i++) close(descriptors[i]);
        *count = 0;
        errno = EMSGSIZE;
        return -1;
    }
    return received;
}
