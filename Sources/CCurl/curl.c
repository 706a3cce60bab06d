#include "CCurl.h"

#include <dlfcn.h>
#include <stdio.h>

// Functions with variable arguments are called with the types that curl.h names for each option.
static struct {
    int (*global_init)(long);
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *);
    int (*easy_setopt)(void *, int, ...);
    int (*easy_getinfo)(void *, int, ...);
    const char *(*easy_strerror)(int);
    void *(*slist_append)(void *, const char *);
    void (*slist_free_all)(void *);
    void *(*multi_init)(void);
    int (*multi_add_handle)(void *, void *);
    int (*multi_remove_handle)(void *, void *);
    int (*multi_perform)(void *, int *);
    int (*multi_poll)(void *, void *, unsigned, int, int *);
    int (*multi_wakeup)(void *);
    void *(*multi_info_read)(void *, int *);
} curl;

// The beginning of CURLMsg.
struct message {
    int message;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
};

enum { MESSAGE_DONE = 1, GLOBAL_DEFAULT = 3 };

static int find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    *(void **)function = found;
    return found != NULL;
}

int ccurl_load(void) {
    static int state = -1;
    if (state >= 0) return state;
    state = 0;
    // Debian has builds with OpenSSL and with GnuTLS.
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    state = find(library, "curl_global_init", &curl.global_init) && find(library, "curl_easy_init", &curl.easy_init) &&
            find(library, "curl_easy_cleanup", &curl.easy_cleanup) &&
            find(library, "curl_easy_setopt", &curl.easy_setopt) &&
            find(library, "curl_easy_getinfo", &curl.easy_getinfo) &&
            find(library, "curl_easy_strerror", &curl.easy_strerror) &&
            find(library, "curl_slist_append", &curl.slist_append) &&
            find(library, "curl_slist_free_all", &curl.slist_free_all) &&
            find(library, "curl_multi_init", &curl.multi_init) &&
            find(library, "curl_multi_add_handle", &curl.multi_add_handle) &&
            find(library, "curl_multi_remove_handle", &curl.multi_remove_handle) &&
            find(library, "curl_multi_perform", &curl.multi_perform) &&
            find(library, "curl_multi_poll", &curl.multi_poll) &&
            find(library, "curl_multi_wakeup", &curl.multi_wakeup) &&
            find(library, "curl_multi_info_read", &curl.multi_info_read) && curl.global_init(GLOBAL_DEFAULT) == 0;
    return state;
}

ccurl_easy *ccurl_easy_make(void) { return curl.easy_init(); }
void ccurl_easy_free(ccurl_easy *easy) { curl.easy_cleanup(easy); }
int ccurl_set_number(ccurl_easy *easy, long option, long value) { return curl.easy_setopt(easy, (int)option, value); }
int ccurl_set_text(ccurl_easy *easy, long option, const char *value) { return curl.easy_setopt(easy, (int)option, value); }
int ccurl_set_pointer(ccurl_easy *easy, long option, void *value) { return curl.easy_setopt(easy, (int)option, value); }
int ccurl_set_list(ccurl_easy *easy, long option, ccurl_list *list) {
    return curl.easy_setopt(easy, (int)option, (void *)list);
}
int ccurl_set_receive(ccurl_easy *easy, long option, ccurl_receive function) {
    return curl.easy_setopt(easy, (int)option, function);
}
int ccurl_set_open_socket(ccurl_easy *easy, ccurl_open_socket function) {
    return curl.easy_setopt(easy, CCURL_OPENSOCKETFUNCTION, function);
}

long ccurl_number(ccurl_easy *easy, long info) {
    long value = 0;
    return curl.easy_getinfo(easy, (int)info, &value) == CCURL_OK ? value : 0;
}

const char *ccurl_text(ccurl_easy *easy, long info) {
    const char *value = NULL;
    return curl.easy_getinfo(easy, (int)info, &value) == CCURL_OK ? value : NULL;
}

const char *ccurl_description(long code) { return curl.easy_strerror((int)code); }

ccurl_list *ccurl_append(ccurl_list *list, const char *text) { return curl.slist_append(list, text); }
void ccurl_list_free(ccurl_list *list) { curl.slist_free_all(list); }

ccurl_multi *ccurl_multi_make(void) { return curl.multi_init(); }
int ccurl_add(ccurl_multi *multi, ccurl_easy *easy) { return curl.multi_add_handle(multi, easy); }
int ccurl_remove(ccurl_multi *multi, ccurl_easy *easy) { return curl.multi_remove_handle(multi, easy); }

int ccurl_perform(ccurl_multi *multi) {
    int running = 0;
    return curl.multi_perform(multi, &running);
}

int ccurl_wait(ccurl_multi *multi, int milliseconds) { return curl.multi_poll(multi, NULL, 0, milliseconds, NULL); }
int ccurl_wake(ccurl_multi *multi) { return curl.multi_wakeup(multi); }

ccurl_easy *ccurl_next_done(ccurl_multi *multi, long *code) {
    for (;;) {
        int rest = 0;
        struct message *message = curl.multi_info_read(multi, &rest);
        if (!message) return NULL;
        if (message->message != MESSAGE_DONE) continue;
        *code = message->data.result;
        return message->easy;
    }
}
