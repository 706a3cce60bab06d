// What locks a process down, for the module Isolation. Each function returns 0 or more, or -1 with errno.

#ifndef CSANDBOX_H
#define CSANDBOX_H

#include <stddef.h>
#include <sys/types.h>

/// The version of Landlock's interface that the kernel has, or -1 with errno where it has none: landlock_create_ruleset(2).
int csb_landlock_version(void);

/// Takes from the process, for good, every access to files and every TCP connection but what lies under the paths, which can
/// only be read. Descriptors that are open stay as they are. Paths that do not exist are passed over.
/// Needs csb_give_up_privileges before it: landlock_restrict_self(2).
int csb_restrict_files(const char *const *readable, size_t count);

/// 1 where the kernel has seccomp's filters, else 0.
int csb_has_filters(void);

/// Allows, for good, only the system calls of a program that computes on what it has open; all others fail with EPERM:
/// seccomp(2). Only the calling thread is restricted, and those it starts later.
int csb_restrict_calls(void);

/// No program that this process starts can get more rights than it has, and it keeps no capability of root's:
/// PR_SET_NO_NEW_PRIVS of prctl(2), capset(2).
int csb_give_up_privileges(void);

/// fork(2); other threads of the process may only wait, since a lock that one of them holds stays locked in the child.
pid_t csb_fork(void);

/// Starts a program whose descriptors are the standard ones and a socket with the number 3: posix_spawn(3). Its standard input
/// and output are /dev/null, standard error too unless `keeps_errors` is 1, and no signal is blocked or ignored. `environment` holds `count` variables such as `TZ=UTC`, each
/// with its NUL, one after the other. Returns the process's number.
pid_t csb_spawn(const char *path, const char *environment, size_t count, int socket, int keeps_errors);

/// Ends this process when its parent ends: PR_SET_PDEATHSIG of prctl(2).
/// The parent is the thread that started this process.
int csb_end_with_parent(void);

/// Closes all descriptors from 3 on but one: close_range(2), or close(2) one by one.
void csb_close_all_but(int kept);

/// From now on, what libraries write to the C library's standard error leads nowhere; the descriptor stays as it is. fontconfig
/// tells there, a line a folder, that it may not write its caches.
void csb_silence_libraries(void);

/// Limits this process, for good: the size of files it writes, the seconds of processor time, the memory it may reserve for data,
/// each where it is not negative; no core files: setrlimit(2).
int csb_limit(long long file_bytes, long long processor_seconds, long long data_bytes);

/// Sends a packet with descriptors through a Unix socket: sendmsg(2) with SCM_RIGHTS, without SIGPIPE. With `waits` 0 it fails
/// with EAGAIN where the other end does not take more.
ssize_t csb_send(int socket, const void *bytes, size_t length, const int *descriptors, size_t count, int waits);

/// Receives a packet and its descriptors, which are closed on exec: recvmsg(2). `count` is the room in `descriptors` before
/// and their number after. Fails with EMSGSIZE where the packet was cut, and with `waits` 0 with EAGAIN where there is none.
ssize_t csb_receive(int socket, void *bytes, size_t length, int *descriptors, size_t *count, int waits);

#endif
