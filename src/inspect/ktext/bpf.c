// SPDX-License-Identifier: GPL-2.0-only
/* The program that copies kernel pages, loaded once and run for each piece of text. */
#include "bpf.h"
#include "bpf-run.h"
#include "kontend/mem.h"
#include "shared.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>

extern const char ktext_object[], ktext_object_end[];

struct ktext_bpf {
	struct bpf_object *object;
	struct ktext_state *state;
	const struct ktext_page *pages;
	int program;
};

int ktext_bpf_open(struct ktext_bpf **ret, struct error *err)
{
	struct ktext_bpf *b = mem_calloc(1, sizeof(*b));
	struct bpf_run_file f = {.bytes = ktext_object,
				 .len = (size_t)(ktext_object_end - ktext_object)};

	if (!b)
		return error_enomem(err, "reading kernel text");
	int code = bpf_run_load(&b->object, &f, err);
	if (code == 0) {
		b->state = bpf_run_map(b->object, ".bss", sizeof(*b->state), PROT_READ | PROT_WRITE,
				       err);
		b->pages = bpf_run_map(b->object, "pages", KTEXT_PAGES * sizeof(*b->pages),
				       PROT_READ, err);
		b->program = bpf_run_program(b->object, "read_text", err);
		code = b->state && b->pages && b->program >= 0 ? 0 : err->code;
	}
	if (code < 0) {
		ktext_bpf_close(b);
		return code;
	}
	*ret = b;
	return 0;
}

void ktext_bpf_close(struct ktext_bpf *b)
{
	if (!b)
		return;
	bpf_run_unmap(b->state, sizeof(*b->state));
	bpf_run_unmap(b->pages, KTEXT_PAGES * sizeof(*b->pages));
	bpf_object__close(b->object);
	mem_free(b);
}

int ktext_bpf_read(struct ktext_bpf *b, uint64_t addr, uint32_t n, const uint8_t **ret,
		   uint32_t *ret_n)
{
	b->state->addr = addr;
	b->state->wanted = n < KTEXT_PAGES ? n : KTEXT_PAGES;
	b->state->got = 0;
	int code = bpf_run_once(b->program, -1);
	uint32_t got = *(volatile uint32_t *)&b->state->got;
	*ret = b->pages[0].bytes;
	*ret_n = got < KTEXT_PAGES ? got : KTEXT_PAGES;
	return code;
}
