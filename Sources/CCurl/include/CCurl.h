// What is used of libcurl and of libcrypto, loaded when it is first needed, for the module Network.
//
// Neither library is linked: a run without a network address does not load them. Their headers are not needed either; the
// constants below are part of libcurl's binary interface, and NetworkTests has a compiler compare them with its headers
// where these are installed.

#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>

/* curl.h, multi.h */
enum {
    CCURL_WRITEDATA = 10001,
    CCURL_URL = 10002,
    CCURL_RANGE = 10007,
    CCURL_WRITEFUNCTION = 20011,
    CCURL_LOW_SPEED_LIMIT = 19,
    CCURL_LOW_SPEED_TIME = 20,
    CCURL_HTTPHEADER = 10023,
    CCURL_HEADERDATA = 10029,
    CCURL_NETRC = 51,
    CCURL_FOLLOWLOCATION = 52,
    CCURL_CAINFO = 10065,
    CCURL_HEADERFUNCTION = 20079,
    CCURL_HTTP_VERSION = 84,
    CCURL_NOSIGNAL = 99,
    CCURL_HTTPAUTH = 107,
    CCURL_CONNECTTIMEOUT_MS = 156,
    CCURL_OPENSOCKETFUNCTION = 20163,
    CCURL_OPENSOCKETDATA = 10164,
    CCURL_USERNAME = 10173,
    CCURL_PASSWORD = 10174,
    CCURL_PIPEWAIT = 237,
    CCURL_SUPPRESS_CONNECT_HEADERS = 265,
    CCURL_PROTOCOLS_STR = 10318,

    CCURL_INFO_HTTP_CONNECTCODE = 0x200016,
    CCURL_INFO_PRIMARY_IP = 0x100020,

    CCURL_HTTP_VERSION_2TLS = 4,
    CCURL_NETRC_OPTIONAL = 1,
    CCURL_AUTH_BASIC = 1,
    CCURL_SOCKET_BAD = -1,

    CCURL_OK = 0,
    CCURL_UNSUPPORTED_PROTOCOL = 1,
    CCURL_MALFORMED_URL = 3,
    CCURL_COULDNT_RESOLVE_PROXY = 5,
    CCURL_COULDNT_RESOLVE_HOST = 6,
    CCURL_COULDNT_CONNECT = 7,
    CCURL_PARTIAL_FILE = 18,
    CCURL_WRITE_ERROR = 23,
    CCURL_OPERATION_TIMEDOUT = 28,
    CCURL_SSL_CONNECT_ERROR = 35,
    CCURL_GOT_NOTHING = 52,
    CCURL_PEER_FAILED_VERIFICATION = 60,
    CCURL_CACERT_BADFILE = 77,
};

typedef struct ccurl_easy ccurl_easy;
typedef struct ccurl_multi ccurl_multi;
typedef struct ccurl_list ccurl_list;

// The address family, type and protocol of a socket to open, and the address that it is for: curl_sockaddr.
typedef struct ccurl_address {
    int family, type, protocol;
    unsigned int length;
    unsigned char address[16];
} ccurl_address;

typedef size_t (*ccurl_receive)(char *bytes, size_t size, size_t count, void *data);
typedef int (*ccurl_open_socket)(void *data, int purpose, ccurl_address *address);

// Loads libcurl; returns 0 if it is missing, or too old for what is used of it. Call it from one thread at a time, before
// everything else here.
int ccurl_load(void);

// curl_easy_init, _cleanup, _setopt, _getinfo and _strerror.
ccurl_easy *ccurl_easy_make(void);
void ccurl_easy_free(ccurl_easy *easy);
int ccurl_set_number(ccurl_easy *easy, long option, long value);
int ccurl_set_text(ccurl_easy *easy, long option, const char *value);
int ccurl_set_pointer(ccurl_easy *easy, long option, void *value);
int ccurl_set_receive(ccurl_easy *easy, long option, ccurl_receive function);
int ccurl_set_open_socket(ccurl_easy *easy, ccurl_open_socket function);
int ccurl_set_list(ccurl_easy *easy, long option, ccurl_list *list);
long ccurl_number(ccurl_easy *easy, long info);
const char *ccurl_text(ccurl_easy *easy, long info);
const char *ccurl_description(long code);

// curl_slist_append, curl_slist_free_all.
ccurl_list *ccurl_append(ccurl_list *list, const char *text);
void ccurl_list_free(ccurl_list *list);

// curl_multi_init, _add_handle, _remove_handle, _perform, _poll and _wakeup.
ccurl_multi *ccurl_multi_make(void);
int ccurl_add(ccurl_multi *multi, ccurl_easy *easy);
int ccurl_remove(ccurl_multi *multi, ccurl_easy *easy);
int ccurl_perform(ccurl_multi *multi);
int ccurl_wait(ccurl_multi *multi, int milliseconds);
int ccurl_wake(ccurl_multi *multi);

// Returns a transfer that has ended, and its code; NULL if none has: curl_multi_info_read.
ccurl_easy *ccurl_next_done(ccurl_multi *multi, long *code);

// Puts the 32 bytes of an HMAC with SHA-256 into `result`; returns 0 if libcrypto is missing: HMAC(3).
int ccurl_hmac_sha256(
    const unsigned char *key, size_t key_length, const unsigned char *bytes, size_t length, unsigned char *result);

// Puts the 32 bytes of a SHA-256 into `result`; returns 0 if libcrypto is missing: SHA256(3).
int ccurl_sha256(const unsigned char *bytes, size_t length, unsigned char *result);

#endif
