// SPDX-License-Identifier: GPL-2.0-only
/*
 * HMAC-SHA-256 of kontend's own id with the machine id as the key, as in
 * sd_id128_get_machine_app_specific(3): its first 16 bytes, marked as a UUID of version 4. Two
 * recordings of one machine show that they are, but reveal neither the machine id nor the id that
 * another program derives from it.
 */
#include "kontend/machineid.h"
#include "kontend/clock.h"
#include "kontend/fdio.h"
#include "kontend/sha256.h"
#include "kontend/thisboot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { ID = 16 };

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static int parse(const char *text, uint8_t ret[ID])
{
	for (int i = 0; i < ID; i++) {
		int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);

		if (low < 0)
			return -EINVAL;
		ret[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

int machineid_of(const char *text, char ret[MACHINEID])
{
	uint8_t app[ID], id[ID], made[SHA256_BYTES];

	*ret = '\0';
	if (parse(MACHINEID_APP, app) < 0 || parse(text, id) < 0)
		return -EINVAL;
	sha256_hmac(id, sizeof(id), app, sizeof(app), made);
	made[6] = (uint8_t)((made[6] & 0x0f) | 0x40);
	made[8] = (uint8_t)((made[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < ID; i++)
		snprintf(ret + 2 * i, 3, "%02x", made[i]);
	return 0;
}

int machineid(char ret[MACHINEID])
{
	char text[2 * ID + 2] = "";
	int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC);

	*ret = '\0';
	if (fd < 0)
		return -errno;
	ssize_t n = fdio_read(fd, text, sizeof(text) - 1);
	int r = n < 0 ? -errno : machineid_of(text, ret);
	close(fd);
	return r;
}

/*
 * Identifies a boot by the kernel release and its start time, the difference between the clocks. It
 * is unlikely that two machines with a common recording booted within the same seconds.
 */

/* Clocks are adjusted while a machine runs. */
static const uint64_t DRIFT_NS = 5000000000;

bool thisboot_saw(const char *release, uint64_t wall_ns, uint64_t clock_then_ns)
{
	/* Times in a file may be any number: differences wrap around both ways. */
	uint64_t then = wall_ns - clock_then_ns;
	uint64_t now = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	struct utsname u;

	return wall_ns && uname(&u) == 0 && !strcmp(u.release, release) &&
	       then - now + DRIFT_NS < 2 * DRIFT_NS;
}

int thisboot_id(char ret[THISBOOT_ID])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(ret, 0, THISBOOT_ID);
	if (fd < 0)
		return -errno;
	ssize_t n = fdio_read(fd, ret, THISBOOT_ID - 1);
	int r = n < 0 ? -errno : n ? 0 : -ENODATA;
	close(fd);
	if (n > 0 && ret[n - 1] == '\n')
		ret[n - 1] = '\0';
	return r;
}
