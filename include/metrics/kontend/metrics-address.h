/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_ADDRESS_H
#define KONTEND_METRICS_ADDRESS_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stdint.h>

/* A numeric address to listen on: no name is resolved. */
struct metrics_address {
	bool is_v6;
	uint8_t bytes[16]; /* network order; of IPv4 the first four */
	uint16_t port;	   /* 0: any free port */
};

/*
 * Parses "PORT" on 127.0.0.1, "ADDR:PORT" or "[ADDR]:PORT". -EINVAL with @err, which names @option.
 */
int metrics_address_parse(const char *text, const char *option, struct metrics_address *ret,
			  struct error *err);
/* "127.0.0.1:9417", "[::1]:9417" */
enum { METRICS_ADDRESS_TEXT = 64 };
const char *metrics_address_text(const struct metrics_address *a, char buf[METRICS_ADDRESS_TEXT]);
/* True if only programs on this machine can connect. */
bool metrics_address_is_loopback(const struct metrics_address *a);

#endif
