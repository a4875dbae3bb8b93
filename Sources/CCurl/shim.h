#pragma once
#include <curl/curl.h>

/* curl_easy_setopt is variadic; Swift needs one function per argument type. */
static inline CURLcode sillok_curl_set_string(CURL *c, CURLoption o, const char *v) { return curl_easy_setopt(c, o, v); }
static inline CURLcode sillok_curl_set_long(CURL *c, CURLoption o, long v) { return curl_easy_setopt(c, o, v); }
static inline CURLcode sillok_curl_set_offset(CURL *c, CURLoption o, curl_off_t v) { return curl_easy_setopt(c, o, v); }
static inline CURLcode sillok_curl_set_pointer(CURL *c, CURLoption o, void *v) { return curl_easy_setopt(c, o, v); }
static inline CURLcode sillok_curl_set_write(CURL *c, curl_write_callback f) { return curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, f); }
static inline CURLcode sillok_curl_set_read(CURL *c, curl_read_callback f) { return curl_easy_setopt(c, CURLOPT_READFUNCTION, f); }
static inline CURLcode sillok_curl_get_long(CURL *c, CURLINFO i, long *v) { return curl_easy_getinfo(c, i, v); }
static inline CURLcode sillok_curl_set_progress(CURL *c, curl_xferinfo_callback f) { return curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, f); }
static inline CURLcode sillok_curl_get_string(CURL *c, CURLINFO i, char **v) { return curl_easy_getinfo(c, i, v); }
