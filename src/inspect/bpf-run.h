/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_BPF_RUN_H
#define KONTEND_INSPECT_BPF_RUN_H

#include "kontend/error.h"
#include "ns-shared.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Runs BPF programs on demand: loads an object file, maps its arrays, runs its programs and
 * iterators. Nothing stays attached: the kernel removes all when the descriptors are closed.
 */
struct bpf_object;
struct bpf_link;
struct bpf_object_open_opts;
struct kerntypes;

/* An object file in memory. */
struct bpf_run_file {
	const char *bytes;
	size_t len;
	/* Replaces the first bytes of its constants; size 0: nothing is replaced. */
	const void *config;
	size_t config_size;
	struct kerntypes *types; /* NULL: the programs need none, and have no iterators */
	/*
	 * Sets the sizes of maps before they are created: 0 or a negative errno; NULL: they have
	 * them.
	 */
	int (*prepare)(struct bpf_object *o, const void *arg);
	const void *prepare_arg;
	/* The map of this name is replaced by that of another object; NULL: none. */
	const char *shared;
	const struct bpf_map *shared_map;
};

/* One more than the highest number that a CPU may get; an error if it is above @most. */
int bpf_run_count_cpus(uint32_t *ret, uint32_t most, struct error *err);
/* Opens an object as bpf-strip.py packs it. NULL with errno. bpf_object__close() it. */
struct bpf_object *bpf_open(const char *packed, size_t len,
			    const struct bpf_object_open_opts *opts);
/* Opens an object and loads it. 0 or a negative errno. */
int bpf_run_load(struct bpf_object **ret, const struct bpf_run_file *f, struct error *err);
/* Why the kernel refuses programs, or a map for them, with @code, which it returns. */
int bpf_run_error(int code, struct error *err);
/* The bytes of a map, as the programs see them; NULL with @err. bpf_run_unmap() it. */
void *bpf_run_map(struct bpf_object *o, const char *name, size_t size, int prot, struct error *err);
void bpf_run_unmap(const void *p, size_t size); /* NULL is fine */
/*
 * An array that the programs fill from its begin. As mapped memory counts as resident, used or not,
 * only as much is mapped as has been needed so far. `= {0}` is an empty one.
 */
struct bpf_run_part {
	int map;
	size_t item, total, mapped; /* bytes */
	void *items;
};

/* Of the map @name with at most @most items of @item bytes. 0 or negative with @err. */
int bpf_run_part_open(struct bpf_run_part *ret, struct bpf_object *o, const char *name, size_t item,
		      size_t most, struct error *err);
/*
 * The items, of which the first @n, or all if there are fewer, can be read until the next call;
 * NULL with errno.
 */
const void *bpf_run_part_read(struct bpf_run_part *p, size_t n);
void bpf_run_part_close(struct bpf_run_part *p);
/* Counts a loaded object: see bpf_memory_loaded(). */
void bpf_memory_add(const struct bpf_object *o);
/* Before an object is loaded: programs and maps of these names are left out. 0 or -ENOENT. */
int bpf_run_leave_programs(struct bpf_object *o, const char *const *names, size_t n);
int bpf_run_leave_maps(struct bpf_object *o, const char *const *names, size_t n);
/* Descriptor of a program; or a negative errno. */
int bpf_run_program(struct bpf_object *o, const char *name, struct error *err);
/* The iterator @name, ready to run; NULL with @err. bpf_link__destroy() it. */
struct bpf_link *bpf_run_iterator(struct bpf_object *o, const char *name, struct error *err);
/* Runs a program once, on @cpu or, < 0, on the current CPU; an iterator over all its items. */
int bpf_run_once(int prog_fd, int cpu);
int bpf_run_iterate(const struct bpf_link *l);

/*
 * nsview.c: the PID namespace of this process, as BPF programs know it. 0 or a negative errno with
 * the answer of the kernel.
 */
int ns_own(struct ns_config *ret, struct kerntypes *types, struct error *err);

#endif
