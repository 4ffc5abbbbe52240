// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guard costs nothing while the file is not truncated. If it is, the kernel's SIGBUS comes here,
 * and everything from that page to the end of the mapping is replaced by zeros. A signal handler
 * can only use static memory: so the guards are in a static list, which threads change in turns.
 * Code that installs another handler must call mapguard_fault() first.
 */
#include "kontend/mapguard.h"
#include "kontend/filemap.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic(struct mapguard *) guards;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t page_bytes; /* set once, before the first guard */
static struct sigaction before_us;

bool mapguard_fault(const siginfo_t *info)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	int before = errno;

	for (struct mapguard *g = atomic_load(&guards); g; g = g->next) {
		if (info->si_code != BUS_ADRERR || at < g->from || at >= g->end)
			continue;
		void *page = (void *)(at & ~(page_bytes - 1));
		void *zeros = mmap(page, g->end - (uintptr_t)page, PROT_READ,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		g->broken = 1;
		errno = before;
		return zeros == page;
	}
	return false;
}

/* Other faults: restores the previous handler, which runs when the access faults again. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (!mapguard_fault(info))
		sigaction(sig, &before_us, NULL);
}

static void install(void)
{
	struct sigaction sa = {.sa_sigaction = on_fault}, old;

	sa.sa_flags = (int)(SA_SIGINFO | SA_ONSTACK);
	sigemptyset(&sa.sa_mask);
	if (sigaction(SIGBUS, &sa, &old) == 0 && old.sa_sigaction != on_fault)
		before_us = old;
}

void mapguard_add(struct mapguard *g, void *map, size_t len)
{
	pthread_mutex_lock(&changing);
	if (!page_bytes)
		page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	g->from = (uintptr_t)map;
	g->end = (g->from + len + page_bytes - 1) & ~(page_bytes - 1);
	g->broken = 0;
	g->next = atomic_load(&guards);
	if (!g->next)
		install();
	atomic_store(&guards, g);
	pthread_mutex_unlock(&changing);
}

void mapguard_del(struct mapguard *g)
{
	pthread_mutex_lock(&changing);
	struct mapguard *at = atomic_load(&guards);

	if (at == g)
		atomic_store(&guards, g->next);
	else
		while (at && at->next != g)
			at = at->next;
	if (at && at != g)
		at->next = g->next;
	pthread_mutex_unlock(&changing);
}

/*
 * Mapping is several times faster than reading megabytes into fresh heap memory, which costs a page
 * fault and a copy per page.
 */

int filemap_open(struct filemap *m, int fd)
{
	struct stat st;

	*m = (struct filemap){0};
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return -ENODATA;
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	m->bytes = bytes;
	m->len = (size_t)st.st_size;
	mapguard_add(&m->guard, bytes, m->len);
	return 0;
}

void filemap_close(struct filemap *m)
{
	if (!m->bytes)
		return;
	mapguard_del(&m->guard);
	munmap((void *)(uintptr_t)m->bytes, m->len);
	*m = (struct filemap){0};
}
