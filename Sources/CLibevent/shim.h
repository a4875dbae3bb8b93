#pragma once
/* First, so that the C library is read without the _GNU_SOURCE that event-config.h defines: with it fd_set differs
   from the one in the other C modules, which the compiler refuses. */
#include <sys/types.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/util.h>
