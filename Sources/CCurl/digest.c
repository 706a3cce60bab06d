#include "CCurl.h"

#include <dlfcn.h>

static void *libcrypto(void) {
    static void *library;
    if (!library) library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    return library;
}

int ccurl_sha256(const unsigned char *bytes, size_t length, unsigned char *result) {
    void *library = libcrypto();
    unsigned char *(*digest)(const unsigned char *, size_t, unsigned char *) = NULL;
    if (library) *(void **)&digest = dlsym(library, "SHA256");
    return digest && digest(bytes, length, result);
}

int ccurl_hmac_sha256(
    const unsigned char *key, size_t key_length, const unsigned char *bytes, size_t length, unsigned char *result) {
    void *library = libcrypto();
    const void *(*sha256)(void) = NULL;
    unsigned char *(*hmac)(
        const void *, const void *, int, const unsigned char *, size_t, unsigned char *, unsigned int *) = NULL;
    if (library) {
        *(void **)&sha256 = dlsym(library, "EVP_sha256");
        *(void **)&hmac = dlsym(library, "HMAC");
    }
    unsigned int count = 0;
    return sha256 && hmac && hmac(sha256(), key, (int)key_length, bytes, length, result, &count) && count == 32;
}
