// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the programs that find readers, if there is a lock that may have some. The addresses of the
 * functions come from /proc/kallsyms, which is read at the first need, since that takes long; the
 * file is opened before rights are dropped.
 */
#include "bpf-run.h"
#include "internal.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char readers_object[], readers_object_end[];

enum { INTERRUPT_MOST = 64 }; /* CPUs in one snapshot */

struct locks_readers {
	struct bpf_object *object;
	struct bpf_link *find_asleep;
	int find_running;
	int kallsyms; /* -1: has been read */
	int why;      /* the functions are not known: a negative errno */
	struct raw_readers_state *state;
	struct raw_reader_range *ranges;
	const struct raw_reader *readers;
	uint32_t *cpus;
};

static int map_arrays(struct locks_readers *r, struct error *err)
{
	const int rw = PROT_READ | PROT_WRITE;

	r->state = bpf_run_map(r->object, ".bss", sizeof(*r->state), rw, err);
	r->ranges =
		bpf_run_map(r->object, "ranges", RAW_READER_RANGES * sizeof(*r->ranges), rw, err);
	r->readers = bpf_run_map(r->object, "readers", RAW_READERS * sizeof(*r->readers), PROT_READ,
				 err);
	r->cpus = bpf_run_map(r->object, "cpus", RAW_READER_CPUS * sizeof(*r->cpus), rw, err);
	return r->state && r->ranges && r->readers && r->cpus ? 0 : err->code;
}

static int load(struct locks_readers *r, struct kerntypes *types, struct error *err)
{
	struct raw_readers_config config = {.self = (unsigned int)getpid()};
	struct bpf_run_file f = {
		.bytes = readers_object,
		.len = (size_t)(readers_object_end - readers_object),
		.config = &config,
		.config_size = sizeof(config),
		.types = types,
	};
	int code = ns_own(&config.ns, types, err);

	code = code < 0 ? code : bpf_run_load(&r->object, &f, err);
	code = code < 0 ? code : map_arrays(r, err);
	if (code < 0)
		return code;
	r->find_asleep = bpf_run_iterator(r->object, "find_asleep", err);
	if (!r->find_asleep)
		return err->code;
	r->find_running = bpf_run_program(r->object, "find_running", err);
	code = bpf_run_program(r->object, "learn_kernel", err);
	if (r->find_running < 0 || code < 0)
		return err->code;
	return bpf_run_once(code, -1);
}

int locks_readers_new(struct locks_readers **ret, struct kerntypes *types, struct error *err)
{
	struct locks_readers *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return error_enomem(err, "the search for readers");
	r->kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	int code = r->kallsyms < 0 ? error_errno(err, -errno, "Cannot read /proc/kallsyms")
				   : load(r, types, err);
	if (code < 0) {
		locks_readers_free(r);
		return code;
	}
	*ret = r;
	return 0;
}

static int learn_functions(struct locks_readers *r)
{
	char *text;
	size_t len;

	if (r->kallsyms < 0)
		return r->why;
	int code = fdio_read_rest(r->kallsyms, &text, &len);
	close(r->kallsyms);
	r->kallsyms = -1;
	if (code == 0) {
		r->state->n_ranges = readers_functions_find(text, len, r->ranges);
		code = r->state->n_ranges ? 0 : -EPERM;
		mem_free(text);
	}
	r->why = code;
	return code;
}

/* Any running task may be a reader: interrupts the CPUs, as many as there is room for. */
static int find_running(struct locks_readers *r)
{
	int code = 0;

	for (int cpu = 0, n = 0; code == 0 && cpu < RAW_READER_CPUS; cpu++) {
		if (!r->cpus[cpu])
			continue;
		r->cpus[cpu] = 0;
		if (n++ < INTERRUPT_MOST)
			code = bpf_run_once(r->find_running, cpu);
		else
			r->state->dropped = 1;
		if (code == -ENXIO) /* has gone offline */
			code = 0;
	}
	return code;
}

int locks_readers_find(struct locks_readers *r, const uint64_t *wanted, size_t n,
		       const struct raw_reader **ret, size_t *ret_n)
{
	*ret_n = 0;
	*ret = r->readers;
	if (!n)
		return 0;
	int code = learn_functions(r);
	if (code < 0)
		return code;
	n = n < RAW_READER_LOCKS ? n : RAW_READER_LOCKS;
	memcpy(r->state->wanted, wanted, n * sizeof(*wanted));
	r->state->n_wanted = (uint32_t)n;
	r->state->n_readers = r->state->dropped = 0;
	code = bpf_run_iterate(r->find_asleep);
	code = code < 0 ? code : find_running(r);
	uint32_t found = *(volatile uint32_t *)&r->state->n_readers;
	*ret_n = found < RAW_READERS ? found : RAW_READERS;
	return code;
}

size_t locks_readers_rcu(struct locks_readers *r, const unsigned long long *frames, size_t n)
{
	if (learn_functions(r) < 0)
		return 0;
	for (uint32_t i = 0; i < r->state->n_ranges && i < RAW_READER_RANGES; i++) {
		const struct raw_reader_range *f = &r->ranges[i];
		for (size_t k = 0; f->flags & READER_RCU && k < n; k++)
			if (frames[k] > f->start && frames[k] <= f->end)
				return k + 1;
	}
	return 0;
}

int locks_readers_dropped(const struct locks_readers *r)
{
	return r->state->dropped != 0;
}

void locks_readers_free(struct locks_readers *r)
{
	if (!r)
		return;
	bpf_run_unmap(r->state, sizeof(*r->state));
	bpf_run_unmap(r->ranges, RAW_READER_RANGES * sizeof(*r->ranges));
	bpf_run_unmap(r->readers, RAW_READERS * sizeof(*r->readers));
	bpf_run_unmap(r->cpus, RAW_READER_CPUS * sizeof(*r->cpus));
	bpf_link__destroy(r->find_asleep);
	bpf_object__close(r->object);
	if (r->kallsyms >= 0)
		close(r->kallsyms);
	mem_free(r);
}
