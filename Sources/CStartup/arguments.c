// The process's arguments for the Swift runtime.
//
// Linked statically, Swift 6.3's runtime reads /proc/self/maps before main, to find the arguments behind CommandLine on
// the stack. With libavcodec's 135 libraries that file has 600 lines, and reading it takes the kernel most of a
// millisecond. glibc hands the arguments to functions that run before main; so the two functions by which the runtime
// is asked for them are here, and the linker leaves the runtime's own out. A runtime that asks by other names has its
// own again.

static char *none[] = {0};
static char **arguments = none;
static int count;

__attribute__((constructor)) static void keep(int argc, char **argv) {
    count = argc;
    arguments = argv;
}

char **_swift_stdlib_getUnsafeArgvArgc(int *argc) {
    *argc = count;
    return arguments;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **argv, int argc) {
    count = argc;
    arguments = argv;
}
