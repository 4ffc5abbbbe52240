/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_ADDRESS_H
#define KONTEND_METRICS_ADDRESS_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Where to listen, in numbers: no name is looked up. */
struct metrics_address {
	bool is_v6;
	uint8_t bytes[16]; /* network order; of IPv4 four */
	uint16_t port;	   /* 0: any that is free */
};

/*
 * "PORT" on 127.0.0.1, "ADDR:PORT" or "[ADDR]:PORT". -EINVAL with @err, where @option is what the
 * user has given it to.
 */
int metrics_address_parse(const char *text, const char *option, struct metrics_address *ret,
			  struct error *err);
/* "127.0.0.1:9417", "[::1]:9417" */
enum { METRICS_ADDRESS_TEXT = 64 };
const char *metrics_address_text(const struct metrics_address *a, char buf[METRICS_ADDRESS_TEXT]);
/* Can only programs on this machine connect to it? */
bool metrics_address_is_loopback(const struct metrics_address *a);

#endif
