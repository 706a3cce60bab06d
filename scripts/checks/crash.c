/* A library for LD_PRELOAD that lets the decoder of one file crash, as a damaged file may.
 *
 *   CRASH=abort|segv|exit|loop|sleep|memory|disk    happens when audio at 11025 Hz is decoded
 *   CRASH=height    one of these happens when a picture 222 wide is decoded: its height says which
 *   CRASH_AFTER=N   the first N packets of such a file are decoded
 *   CRASH_ONCE=1    it happens once in a run, whatever the number of its processes
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <libavcodec/avcodec.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes to every output that is open until that fails. */
static void fill(void)
{
    static char block[1 << 20];
    for (int file = 3; file < 64; file++) {
        struct stat status;
        if (fstat(file, &status) || !S_ISREG(status.st_mode) || (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY) continue;
        while (write(file, block, sizeof block) > 0) {}
    }
}

/* How often it happened; the processes that are forked later share it. */
static int *crashes;

__attribute__((constructor)) static void share(void)
{
    void *shared = mmap(NULL, sizeof *crashes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared != MAP_FAILED) crashes = shared;
}

/* Whether it happens now, as CRASH_AFTER and CRASH_ONCE say. */
static int is_due(void)
{
    static int packets;
    const char *after = getenv("CRASH_AFTER");
    if (after && packets++ < atoi(after)) return 0;
    return !getenv("CRASH_ONCE") || (crashes && __atomic_fetch_add(crashes, 1, __ATOMIC_RELAXED) == 0);
}

int avcodec_send_packet(AVCodecContext *decoder, const AVPacket *packet)
{
    static const char *const kinds[] = {"abort", "segv", "exit", "sleep", "loop", "memory"};
    const char *crash = getenv("CRASH");
    int by_height = crash && !strcmp(crash, "height");
    int kind = decoder->height / 2 - 8;
    if (by_height && decoder->width == 222 && kind >= 0 && kind < 6) crash = kinds[kind];
    if (crash && (by_height ? strcmp(crash, "height") : decoder->sample_rate == 11025) && is_due()) {
        if (!strcmp(crash, "abort")) abort();
        if (!strcmp(crash, "segv")) raise(SIGSEGV);
        if (!strcmp(crash, "exit")) _exit(0);
        if (!strcmp(crash, "loop")) for (volatile int i = 0;; i++) {}
        if (!strcmp(crash, "sleep")) for (;;) sleep(60);
        if (!strcmp(crash, "memory")) for (;;) memset(malloc(16 << 20), 1, 16 << 20);
        if (!strcmp(crash, "disk")) {
            fill();
            abort();
        }
    }
    return ((int (*)(AVCodecContext *, const AVPacket *)) dlsym(RTLD_NEXT, "avcodec_send_packet"))(decoder, packet);
}
