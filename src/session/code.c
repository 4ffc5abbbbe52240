// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens the running kernel's code while we have the rights: it is needed later, when the user opens
 * a function.
 */
#include "kontend/ktext.h"
#include "kontend/mem.h"
#include "kontend/run.h"

#include <errno.h>

struct run_code {
	struct codesource source;
	struct ktext *text;
	struct error why;
};

static int read_code(void *ctx, uint64_t addr, void *ret, size_t n, size_t *ret_n)
{
	struct run_code *r = ctx;

	return ktext_read(r->text, addr, ret, n, ret_n);
}

static bool is_wanted(const struct opts *o)
{
	return o->annotate || (o->freq && (o->verb == VERB_LIVE || o->verb == VERB_RECORD));
}

static void open_text(struct run_code *r, const struct opts *o)
{
	r->source = (struct codesource){.read = read_code, .ctx = r, .why = r->why.text};
	if (ktext_open(&r->text, NULL, &r->why) < 0)
		return;
	if (ktext_way(r->text) == KTEXT_BPF && o->no_bpf) {
		error_set(&r->why, -ENOTSUP, "BPF is switched off (--no-bpf), and there is no %s",
			  ktext_way_name(KTEXT_KCORE));
		return;
	}
	r->source.name = ktext_way_name(ktext_way(r->text));
}

int run_code_new(struct run_code **ret, const struct opts *o, struct error *err)
{
	if (!is_wanted(o))
		return 0;
	struct run_code *r = mem_calloc(1, sizeof(*r));
	if (!r)
		return error_enomem(err, "the kernel's code");
	open_text(r, o);
	*ret = r;
	return 0;
}

struct codesource *run_code_source(struct run_code *r)
{
	return r ? &r->source : NULL;
}

/*
 * A process in the sandbox, and its broker, may not read it: an address could be one of other
 * memory.
 */
struct codesource *run_code_none(void)
{
	static const struct codesource none = {
		.why = "the code of the running kernel is not read in the sandbox (--no-sandbox)"};

	return (struct codesource *)(uintptr_t)&none;
}

void run_code_free(struct run_code *r)
{
	if (!r)
		return;
	ktext_close(r->text);
	mem_free(r);
}
