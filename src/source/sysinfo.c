// SPDX-License-Identifier: GPL-2.0-only
/* Facts about the system, for error texts and defaults. */
#include "kontend/sysinfo.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 272, FILES_OF_CPU = 8 };

int sysinfo_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	buf[0] = '\0';
	if (fd < 0)
		return -errno;
	ssize_t n = fdio_read(fd, buf, size - 1);
	int code = n < 0 ? -errno : 0;
	close(fd);
	if (code)
		return code;
	if (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return (int)n;
}

int64_t sysinfo_number(const char *path, int64_t otherwise)
{
	char buf[32], *end;

	if (sysinfo_read(path, buf, sizeof(buf)) <= 0)
		return otherwise;
	errno = 0;
	long long v = strtoll(buf, &end, 10);
	return errno || end == buf ? otherwise : v;
}

const char *sysinfo_lockdown(char *buf, size_t size)
{
	char text[64];
	const char *open = NULL, *close = NULL;

	if (sysinfo_read("/sys/kernel/security/lockdown", text, sizeof(text)) > 0) {
		open = strchr(text, '[');
		close = open ? strchr(open, ']') : NULL;
	}
	if (close)
		snprintf(buf, size, "%.*s", (int)(close - open - 1), open + 1);
	else
		buf[0] = '\0';
	return buf;
}

const char *sysinfo_exe(char *buf, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);

	if (n <= 0 || (size_t)n >= size - 1)
		snprintf(buf, size, "kontend");
	else
		buf[n] = '\0';
	return buf;
}

bool sysinfo_capable(unsigned int cap)
{
	char text[4096];
	const char *line = NULL;

	if (sysinfo_read("/proc/thread-self/status", text, sizeof(text)) > 0)
		line = strstr(text, "\nCapEff:");
	if (!line || cap > 63)
		return false;
	return strtoull(line + 8, NULL, 16) >> cap & 1;
}

uint64_t sysinfo_cpu_epoch(uint32_t cpu)
{
	char path[64];
	struct stat st;

	/*
	 * The kernel creates this folder again, with a new inode number, each time the CPU goes
	 * online.
	 */
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology", cpu);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

uint64_t sysinfo_memory(void)
{
	uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
	uint64_t all = pages * (uint64_t)sysconf(_SC_PAGESIZE), most;
	char text[32];

	/* In a container. "max" means no limit, and is no number. */
	if (sysinfo_read("/sys/fs/cgroup/memory.max", text, sizeof(text)) < 0)
		return all;
	most = strtoull(text, NULL, 10);
	return most && most < all ? most : all;
}

uint64_t sysinfo_resident(void)
{
	char text[128], *end;

	if (sysinfo_read("/proc/self/statm", text, sizeof(text)) <= 0)
		return 0;
	strtoull(text, &end, 10); /* what is mapped */
	return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

int sysinfo_cpu_node(uint32_t cpu)
{
	char path[64];
	int node = -1;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
	DIR *d = opendir(path);
	for (struct dirent *e; d && node < 0 && (e = readdir(d));)
		if (sscanf(e->d_name, "node%d", &node) != 1)
			node = -1;
	if (d)
		closedir(d);
	return node;
}

uint64_t sysinfo_files(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	return FILES + FILES_OF_CPU * (cpus > 0 ? (uint64_t)cpus : 1);
}

uint64_t sysinfo_raise_files(uint64_t need)
{
	struct rlimit l = {0};

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= need)
		return l.rlim_cur;
	struct rlimit more = {need, l.rlim_max < need ? need : l.rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &more) == 0)
		return need;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
	return l.rlim_cur;
}

uint64_t sysinfo_switches(void)
{
	static const char key[] = "\nctxt ";
	char *text;
	size_t len;
	uint64_t n = 0;

	if (fdio_read_file("/proc/stat", &text, &len) < 0)
		return 0;
	const char *at = memmem(text, len, key, sizeof(key) - 1);
	for (at = at ? at + sizeof(key) - 1 : NULL;
	     at && at < text + len && *at >= '0' && *at <= '9'; at++)
		n = n * 10 + (uint64_t)(*at - '0');
	mem_free(text);
	return n;
}
