// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often down_read_trylock() tries again while pages are faulted: the workload is run once more
 * and sampled, where this machine has a counter that names the very instruction. Without one a line
 * reports it, and the benchmark does not fail.
 */
#include "kontend/bench-mm.h"
#include "kontend/bench-retry.h"
#include "kontend/cpulist.h"
#include "kontend/fdio.h"
#include "kontend/ktext.h"
#include "kontend/mem.h"
#include "kontend/sym.h"
#include "run.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { CODE = 512 };

static const char name[] = "down_read_trylock";

struct function {
	uint64_t start;
	size_t n;
	uint8_t code[CODE];
};

/* Up to the next symbol. */
static int find_function(const struct sym *s, struct function *ret)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sym_entry *e = &s->entries[i];
		if (strcmp(sym_text(s, e), name) != 0)
			continue;
		uint64_t end = i + 1 < s->n ? s->entries[i + 1].addr : e->addr + CODE;
		ret->start = e->addr;
		ret->n = end - e->addr < CODE ? (size_t)(end - e->addr) : CODE;
		return 0;
	}
	return -ENOENT;
}

static int find_by_kallsyms(struct function *ret, struct error *err)
{
	struct sym sym;
	size_t len = 0;
	char *text = NULL;

	sym_init(&sym);
	int code = fdio_read_file("/proc/kallsyms", &text, &len) < 0 ? -ENOENT : 0;
	if (code == 0)
		code = sym_load(&sym, text, len, err);
	if (code == 0)
		code = find_function(&sym, ret);
	sym_deinit(&sym);
	mem_free(text);
	return code < 0 ? error_set(err, code, "where %s() is cannot be read from /proc/kallsyms",
				    name)
			: 0;
}

static int read_function(struct function *ret, struct error *err)
{
	struct ktext *k;
	int code = find_by_kallsyms(ret, err);

	if (code == 0)
		code = ktext_open(&k, NULL, err);
	if (code < 0)
		return code;
	code = ktext_read(k, ret->start, ret->code, ret->n, &ret->n);
	ktext_close(k);
	return code < 0 ? error_errno(err, code, "the code of %s() cannot be read", name) : 0;
}

static int new_sampler(struct bench_retry **ret, struct error *err)
{
	uint32_t *cpus = NULL;
	size_t n = 0;
	int code = cpulist_read("online", &cpus, &n);

	if (code < 0)
		return error_errno(err, code, "which CPUs are online cannot be read");
	code = bench_retry_new(ret, cpus, n, err);
	mem_free(cpus);
	return code;
}

static int measure(const struct bench_mm_options *o, struct bench_retry_sum *ret, struct error *err)
{
	struct bench_retry *r = NULL;
	struct bench_mm_result ran;
	struct function f;
	uint32_t at[2];
	int code = new_sampler(&r, err);

	if (code == 0)
		code = read_function(&f, err);
	if (code == 0)
		code = bench_retry_places(f.code, f.n, at, err);
	if (code == 0)
		code = bench_mm_fault(o, &ran, err);
	if (code == 0) {
		bench_retry_take(r, f.start, f.n);
		code = bench_retry_sum(r, at, ret, err);
	}
	bench_retry_free(r);
	return code;
}

void bench_retries(const struct bench_mm_options *o, struct bench_out *out)
{
	static const struct bench_metric again = {"trylock_again", "1", BENCH_LOWER};
	struct bench_retry_sum s = {0};
	struct error err = {0};
	bool known = measure(o, &s, &err) == 0;

	bench_figures_put(&out->figures, &again, known ? s.per_try : (double)NAN, "%s",
			  bench_mm_mode_name(o->mode));
	if (out->text)
		fprintf(out->text, "%s: %s\n", name, sym_trylock_note);
	if (out->text && known)
		fprintf(out->text,
			"%s: tries again %.2f times for each try, by %llu samples at its second "
			"cmpxchg and %llu at its first\n",
			name, s.per_try, (unsigned long long)s.second, (unsigned long long)s.first);
	else if (out->text)
		fprintf(out->text, "%s: how often it tries again is not available: %s\n", name,
			err.text);
}
