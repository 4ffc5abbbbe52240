// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel text. /proc/kcore is an ELF file whose segments are the kernel's memory, so an address is
 * an offset in it. The BPF program reads whole pages, from which the requested bytes are copied.
 */
#include "kontend/ktext.h"
#include "bpf.h"
#include "kontend/elfimg.h"
#include "kontend/mem.h"
#include "shared.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct ktext {
	enum ktext_way way;
	struct elfimg kcore;
	struct ktext_bpf *bpf;
};

static int open_kcore(struct ktext *k, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : elfimg_open_fd(&k->kcore, fd);
}

int ktext_open(struct ktext **ret, const char *kcore, struct error *err)
{
	struct ktext *k = mem_calloc(1, sizeof(*k));
	struct error bpf = {0};
	const char *path = kcore ? kcore : "/proc/kcore";

	if (!k)
		return error_enomem(err, "reading kernel text");
	int code = open_kcore(k, path), code_bpf = 0;
	if (code < 0) {
		k->way = KTEXT_BPF;
		code_bpf = ktext_bpf_open(&k->bpf, &bpf);
	}
	if (code_bpf < 0) {
		mem_free(k);
		return error_set(err, code_bpf, "Cannot read the kernel's code: %s: %s; %s", path,
				 strerror(-code), bpf.text);
	}
	*ret = k;
	return 0;
}

void ktext_close(struct ktext *k)
{
	if (!k)
		return;
	elfimg_close(&k->kcore);
	ktext_bpf_close(k->bpf);
	mem_free(k);
}

enum ktext_way ktext_way(const struct ktext *k)
{
	return k->way;
}

const char *ktext_way_name(enum ktext_way w)
{
	return w == KTEXT_KCORE ? "/proc/kcore" : "BPF";
}

static int read_kcore(struct ktext *k, uint64_t addr, void *ret, size_t n, size_t *ret_n)
{
	/* Text does not reach beyond its segment. */
	if (!elfimg_read_addr(&k->kcore, addr, ret, n))
		return -EFAULT;
	*ret_n = n;
	return 0;
}

static int read_bpf(struct ktext *k, uint64_t addr, uint8_t *ret, size_t n, size_t *ret_n)
{
	size_t got = 0;

	while (got < n) {
		const uint8_t *pages;
		uint64_t at = addr + got, first = at & ~(uint64_t)(KTEXT_PAGE - 1);
		uint64_t wanted = (addr + n - first + KTEXT_PAGE - 1) / KTEXT_PAGE;
		uint32_t there;
		int code = ktext_bpf_read(k->bpf, first,
					  wanted < KTEXT_PAGES ? (uint32_t)wanted : KTEXT_PAGES,
					  &pages, &there);
		if (code < 0)
			return code;
		if (!there)
			break;
		size_t have = (size_t)there * KTEXT_PAGE - (size_t)(at - first);
		have = have < n - got ? have : n - got;
		memcpy(ret + got, pages + (at - first), have);
		got += have;
	}
	*ret_n = got;
	return got ? 0 : -EFAULT;
}

int ktext_read(struct ktext *k, uint64_t addr, void *ret, size_t n, size_t *ret_n)
{
	if (n > UINT64_MAX - addr)
		return -EFAULT;
	return k->way == KTEXT_KCORE ? read_kcore(k, addr, ret, n, ret_n)
				     : read_bpf(k, addr, ret, n, ret_n);
}
