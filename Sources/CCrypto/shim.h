#pragma once
#include <openssl/err.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/sha.h>

/* SHA-256. OpenSSL 3.0 frees and allocates a state for each digest that is begun through EVP, which takes as long as to hash a
   block. These functions do not; they are deprecated in favour of EVP's choice of providers, and we make none. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline void sillok_sha256_begin(SHA256_CTX *state) { SHA256_Init(state); }
static inline void sillok_sha256_add(SHA256_CTX *state, const void *bytes, size_t count) {
  SHA256_Update(state, bytes, count);
}
static inline void sillok_sha256_end(SHA256_CTX *state, unsigned char *out) { SHA256_Final(out, state); }
#pragma GCC diagnostic pop
