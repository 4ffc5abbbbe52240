// SPDX-License-Identifier: GPL-2.0-only
/*
 * filecaps FILE CAPABILITY...: gives the file these capabilities, effective, as setcap(8) does with
 * +ep. The machine of the tests has no libcap; the attribute is a few words in a fixed layout.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

static const struct {
	const char *name;
	unsigned int number;
} known[] = {
	{"bpf", CAP_BPF},	    {"dac_read_search", CAP_DAC_READ_SEARCH},
	{"ipc_lock", CAP_IPC_LOCK}, {"perfmon", CAP_PERFMON},
	{"syslog", CAP_SYSLOG},	    {"sys_ptrace", CAP_SYS_PTRACE},
};

static int number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!strcmp(name, known[i].name))
			return (int)known[i].number;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct vfs_cap_data caps = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE};

	for (int i = 2; i < argc; i++) {
		int n = number_of(argv[i]);

		if (n < 0) {
			fprintf(stderr, "filecaps: no capability %s\n", argv[i]);
			return 1;
		}
		caps.data[n / 32].permitted |= 1u << n % 32;
	}
	if (argc < 2 || setxattr(argv[1], "security.capability", &caps, sizeof(caps), 0) < 0) {
		fprintf(stderr, "filecaps: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}
