// SPDX-License-Identifier: GPL-2.0-only
#include "keptdir.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void cachedir_make(char ret[KEPTDIR_PATH], const char *cache)
{
	char path[KEPTDIR_PATH + 32];

	strcpy(ret, "/tmp/kontend-kept-XXXXXX");
	assert_non_null(mkdtemp(ret));
	snprintf(path, sizeof(path), "%s%s%s", ret, *cache ? "/" : "", cache);
	setenv("KONTEND_CACHE", path, 1);
}

int cachedir_remove(const char *path)
{
	char command[KEPTDIR_PATH + 32];

	unsetenv("KONTEND_CACHE");
	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	return system(command);
}

void cachedir_damage(const char *file, off_t at)
{
	uint8_t byte;
	int fd = open(file, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}
