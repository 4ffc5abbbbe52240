// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF programs that are run on demand, by test_run or as iterators, and exchange data through
 * arrays that are mapped. The output of an iterator is not needed: it is read until its end.
 */
#include "bpf-run.h"
#include "btf/types.h"
#include "kfunc-call.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/sysinfo.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

static const char btf_path[] = "/sys/kernel/btf/vmlinux";

/* Objects are packed to a fifth: without that they would be a tenth of the program. */
struct bpf_object *bpf_open(const char *packed, size_t len, const struct bpf_object_open_opts *opts)
{
	uint64_t size;

	memcpy(&size, packed, sizeof(size));
	char *bytes = mem_calloc(1, (size_t)size);
	if (!bytes) {
		errno = ENOMEM;
		return NULL;
	}
	uLongf n = (uLongf)size;
	if (uncompress((Bytef *)bytes, &n, (const Bytef *)packed + sizeof(size),
		       (uLong)(len - sizeof(size))) != Z_OK) {
		mem_free(bytes);
		errno = EBADMSG;
		return NULL;
	}
	/* libbpf has copied what it needs when it has opened an object. */
	struct bpf_object *o = bpf_object__open_mem(bytes, n, opts);
	int code = errno;
	mem_free(bytes);
	errno = code;
	return o;
}

/*
 * Sets the programs' constants, before they are loaded: libbpf declares them const or not, by
 * version.
 */
static int set_config(struct bpf_object *o, const struct bpf_run_file *f)
{
	struct bpf_map *m = bpf_object__find_map_by_name(o, ".rodata");
	size_t size = 0;
	uintptr_t at = m ? (uintptr_t)bpf_map__initial_value(m, &size) : 0;

	if (!f->config_size)
		return 0;
	if (!at || size < f->config_size)
		return -EPROTO;
	memcpy((void *)at, f->config, f->config_size);
	return 0;
}

/* EACCES is also the answer, even for root, to a program that reads memory that it may not read. */
static bool lacks_rights(int code)
{
	return code == -EPERM ||
	       (code == -EACCES && !(sysinfo_capable(CAP_BPF) && sysinfo_capable(CAP_PERFMON)));
}

int bpf_run_error(int code, struct error *err)
{
	if (lacks_rights(code))
		return error_errno(err, code,
				   "The kernel does not let this user load BPF programs (it needs "
				   "CAP_BPF and CAP_PERFMON, or root)");
	return error_errno(err, code, "The kernel refused the BPF programs");
}

static int share(struct bpf_object *o, const struct bpf_run_file *f)
{
	struct bpf_map *m = f->shared ? bpf_object__find_map_by_name(o, f->shared) : NULL;

	if (!f->shared)
		return 0;
	return m ? bpf_map__reuse_fd(m, bpf_map__fd(f->shared_map)) : -ENOENT;
}

int bpf_run_count_cpus(uint32_t *ret, uint32_t most, struct error *err)
{
	uint32_t *possible;
	size_t n;
	int code = cpulist_read("possible", &possible, &n);

	if (code < 0)
		return error_errno(err, code, "Cannot read /sys/devices/system/cpu/possible");
	*ret = n ? possible[n - 1] + 1 : 1;
	mem_free(possible);
	return *ret > most
		       ? error_set(err, -E2BIG,
				   "The BPF programs support %u CPUs, but this machine may have %u",
				   most, *ret)
		       : 0;
}

/*
 * The file of types to which libbpf relocates the object: an excerpt in @memory, or all types. It
 * has a path: without one libbpf searches the BTF of modules for structures that this kernel lacks,
 * which needs CAP_SYS_ADMIN.
 */
static const char *types_path(int memory, char *buf, size_t size)
{
	if (memory >= 0) {
		snprintf(buf, size, "/proc/self/fd/%d", memory);
		return buf;
	}
	return access(btf_path, R_OK) == 0 ? btf_path : NULL;
}

static int open_and_load(struct bpf_object **ret, const struct bpf_run_file *f, int memory,
			 struct error *err)
{
	char path[40];
	struct bpf_object_open_opts opts = {
		.sz = sizeof(opts),
		.object_name = "kontend",
		.btf_custom_path = types_path(memory, path, sizeof(path)),
	};
	struct bpf_object *o = bpf_open(f->bytes, f->len, &opts);

	if (!o)
		return error_errno(err, -errno, "Cannot open the BPF programs");
	int code = set_config(o, f);
	code = code < 0 ? code : share(o, f);
	if (code == 0 && f->prepare)
		code = f->prepare(o, f->prepare_arg);
	if (code == 0 && memory >= 0)
		code = kerntypes_excerpt(f->types, bpf_object__btf(o), memory);
	code = code < 0 ? code : bpf_object__load(o);
	if (code < 0) {
		bpf_object__close(o);
		return bpf_run_error(code, err);
	}
	bpf_memory_add(o);
	*ret = o;
	return 0;
}

static const char *behind_slash(const struct bpf_program *p)
{
	const char *slash = strchr(bpf_program__section_name(p), '/');

	return slash ? slash + 1 : "";
}

/*
 * libbpf has one list of handlers for all threads, which threads that load objects must not change.
 * So `loading` is read-locked while an object is loaded with them; the handlers are registered
 * before the first one, and go only for an object that libbpf is to prepare itself.
 */
static pthread_rwlock_t loading = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;
enum { HANDLERS = 5 };
static int handlers[HANDLERS]; /* their numbers */
static bool are_registered;

/* The types to which this thread relocates an object. */
static _Thread_local struct kerntypes *fitted_to;

/*
 * For each object with iterators or typed tracepoints libbpf would read all of the kernel's types
 * again, to find the functions to which these are attached. For other types of programs it does
 * not, and calls this function before it loads one.
 */
static int prepare_traced(struct bpf_program *p, struct bpf_prog_load_opts *opts,
			  const char *prefix, uint32_t kind, enum bpf_attach_type how)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s", prefix, behind_slash(p));
	int id = kerntypes_find(fitted_to, name, kind);
	if (id < 0)
		return id;
	opts->attach_btf_id = (uint32_t)id;
	opts->expected_attach_type = how;
	int code = bpf_program__set_type(p, BPF_PROG_TYPE_TRACING);
	/* From 1.3 on libbpf takes it from the program afterwards. */
	return code < 0 ? code : bpf_program__set_expected_attach_type(p, how);
}

static int prepare_iterator(struct bpf_program *p, struct bpf_prog_load_opts *opts, long cookie)
{
	(void)cookie;
	return prepare_traced(p, opts, "bpf_iter_", BTF_KIND_FUNC, BPF_TRACE_ITER);
}

static void set_kfunc(struct bpf_insn *insn, struct kerntypes *types)
{
	static const struct {
		int stands_in;
		const char *name;
	} known[] = {
		{KFUNC_GET_KMEM_CACHE, "bpf_get_kmem_cache"},
		{KFUNC_RDONLY_CAST, "bpf_rdonly_cast"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (insn->code != (BPF_JMP | BPF_CALL) || insn->imm != known[i].stands_in)
			continue;
		int id = kerntypes_find(types, known[i].name, BTF_KIND_FUNC);
		if (id < 0)
			return;
		insn->src_reg = BPF_PSEUDO_KFUNC_CALL;
		insn->imm = id;
	}
}

/* See kfunc-call.h. */
static int prepare_kfuncs(struct bpf_program *p, struct bpf_prog_load_opts *opts, long cookie)
{
	size_t n = bpf_program__insn_cnt(p);
	struct bpf_insn *insns = mem_dup(bpf_program__insns(p), n, sizeof(*insns));
	int code = insns ? 0 : -ENOMEM;

	(void)opts, (void)cookie;
	for (size_t i = 0; !code && fitted_to && i < n; i++)
		set_kfunc(&insns[i], fitted_to);
	code = code ? code : bpf_program__set_insns(p, insns, n);
	mem_free(insns);
	return code;
}

/* A tracepoint whose arguments the verifier knows by their types. */
static int prepare_typed(struct bpf_program *p, struct bpf_prog_load_opts *opts, long cookie)
{
	int code = prepare_kfuncs(p, opts, cookie);

	return code < 0 ? code
			: prepare_traced(p, opts, "btf_trace_", BTF_KIND_TYPEDEF, BPF_TRACE_RAW_TP);
}

/* The begin and the end of a function. */
static int prepare_entry(struct bpf_program *p, struct bpf_prog_load_opts *opts, long cookie)
{
	(void)cookie;
	return prepare_traced(p, opts, "", BTF_KIND_FUNC, BPF_TRACE_FENTRY);
}

static int prepare_exit(struct bpf_program *p, struct bpf_prog_load_opts *opts, long cookie)
{
	(void)cookie;
	return prepare_traced(p, opts, "", BTF_KIND_FUNC, BPF_TRACE_FEXIT);
}

static int register_handler(const char *section, enum bpf_prog_type type,
			    libbpf_prog_prepare_load_fn_t prepare)
{
	struct libbpf_prog_handler_opts how = {.sz = sizeof(how), .prog_prepare_load_fn = prepare};

	return libbpf_register_prog_handler(section, type, 0, &how);
}

/* Before 1.3 libbpf goes on to use its list of handlers when the last one is gone. */
static int keep_a_handler(void)
{
	static bool is_kept;

	if (is_kept)
		return 0;
	int id = register_handler("kontend", BPF_PROG_TYPE_SYSCALL, NULL);
	is_kept = id >= 0;
	return id;
}

static int register_all(void)
{
	static const struct {
		const char *section;
		enum bpf_prog_type type;
		libbpf_prog_prepare_load_fn_t prepare;
	} all[HANDLERS] = {
		{"iter/", BPF_PROG_TYPE_SYSCALL, prepare_iterator},
		{"tp_btf/", BPF_PROG_TYPE_SYSCALL, prepare_typed},
		{"raw_tp/", BPF_PROG_TYPE_RAW_TRACEPOINT, prepare_kfuncs},
		{"fentry/", BPF_PROG_TYPE_SYSCALL, prepare_entry},
		{"fexit/", BPF_PROG_TYPE_SYSCALL, prepare_exit},
	};
	int code = keep_a_handler(), n = 0;

	for (; code >= 0 && n < HANDLERS; n++)
		code = handlers[n] = register_handler(all[n].section, all[n].type, all[n].prepare);
	if (code >= 0)
		return 0;
	while (--n > 0)
		libbpf_unregister_prog_handler(handlers[n - 1]);
	return code;
}

/* With `loading` read-locked: no thread has begun to load an object before these are there. */
static int need_handlers(void)
{
	pthread_mutex_lock(&registering);
	int code = are_registered ? 0 : register_all();
	are_registered = code == 0;
	pthread_mutex_unlock(&registering);
	return code;
}

/* An object that needs no types has no iterators, so the handlers do not matter to it. */
static int load_plain(struct bpf_object **ret, const struct bpf_run_file *f, struct error *err)
{
	pthread_rwlock_rdlock(&loading);
	int code = need_handlers();
	fitted_to = NULL;
	code = code < 0 ? error_errno(err, code, "Cannot register handlers of BPF programs")
			: open_and_load(ret, f, -1, err);
	pthread_rwlock_unlock(&loading);
	return code;
}

static int load_fitted(struct bpf_object **ret, const struct bpf_run_file *f)
{
	int memory = memfd_create("kontend-types", MFD_CLOEXEC);

	pthread_rwlock_rdlock(&loading);
	int code = memory < 0 ? -errno : need_handlers();
	fitted_to = f->types;
	code = code < 0 ? code : open_and_load(ret, f, memory, NULL);
	pthread_rwlock_unlock(&loading);
	if (memory >= 0)
		close(memory);
	return code;
}

/* As libbpf does it alone: no other thread loads an object meanwhile. */
static int load_unfitted(struct bpf_object **ret, const struct bpf_run_file *f, struct error *err)
{
	pthread_rwlock_wrlock(&loading);
	for (int i = 0; are_registered && i < HANDLERS; i++)
		libbpf_unregister_prog_handler(handlers[i]);
	are_registered = false;
	int code = open_and_load(ret, f, -1, err);
	pthread_rwlock_unlock(&loading);
	return code;
}

int bpf_run_load(struct bpf_object **ret, const struct bpf_run_file *f, struct error *err)
{
	bpf_types_quiet();
	if (!f->types)
		return load_plain(ret, f, err);
	/* If this fails, libbpf may still load it, more slowly; if not, it reports the reason. */
	if (load_fitted(ret, f) == 0)
		return 0;
	return load_unfitted(ret, f, err);
}

void *bpf_run_map(struct bpf_object *o, const char *name, size_t size, int prot, struct error *err)
{
	struct bpf_map *m = bpf_object__find_map_by_name(o, name);

	if (!m) {
		error_set(err, -ENOENT, "The BPF object has no map '%s'", name);
		return NULL;
	}
	void *p = mmap(NULL, size, prot, MAP_SHARED, bpf_map__fd(m), 0);
	if (p == MAP_FAILED) {
		error_errno(err, -errno, "Cannot map the BPF map %s", name);
		return NULL;
	}
	return p;
}

void bpf_run_unmap(const void *p, size_t size)
{
	if (p)
		munmap((void *)(uintptr_t)p, size);
}

int bpf_run_part_open(struct bpf_run_part *ret, struct bpf_object *o, const char *name, size_t item,
		      size_t most, struct error *err)
{
	struct bpf_map *m = bpf_object__find_map_by_name(o, name);

	if (!m)
		return error_set(err, -ENOENT, "The BPF object has no map '%s'", name);
	*ret = (struct bpf_run_part){.map = bpf_map__fd(m), .item = item, .total = item * most};
	return bpf_run_part_read(ret, 0)
		       ? 0
		       : error_errno(err, -errno, "Cannot map the BPF map %s", name);
}

const void *bpf_run_part_read(struct bpf_run_part *p, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), total = (p->total + page - 1) / page * page;
	size_t bytes = p->mapped ? p->mapped : page;

	while (bytes < total && bytes < n * p->item)
		bytes *= 2;
	bytes = bytes < total ? bytes : total;
	if (bytes == p->mapped)
		return p->items;
	void *items = mmap(NULL, bytes, PROT_READ, MAP_SHARED, p->map, 0);
	if (items == MAP_FAILED)
		return NULL;
	bpf_run_unmap(p->items, p->mapped);
	p->items = items;
	p->mapped = bytes;
	return items;
}

void bpf_run_part_close(struct bpf_run_part *p)
{
	bpf_run_unmap(p->items, p->mapped);
	*p = (struct bpf_run_part){0};
}

/* The kernel need not verify programs that are never called. */
int bpf_run_leave_programs(struct bpf_object *o, const char *const *names, size_t n)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < n; i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(o, names[i]);
		code = p ? bpf_program__set_autoload(p, false) : -ENOENT;
	}
	return code;
}

/* No program that is loaded gets to where it would use them. */
int bpf_run_leave_maps(struct bpf_object *o, const char *const *names, size_t n)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < n; i++) {
		struct bpf_map *m = bpf_object__find_map_by_name(o, names[i]);
		code = m ? bpf_map__set_autocreate(m, false) : -ENOENT;
	}
	return code;
}

int bpf_run_program(struct bpf_object *o, const char *name, struct error *err)
{
	struct bpf_program *p = bpf_object__find_program_by_name(o, name);

	return p ? bpf_program__fd(p)
		 : error_set(err, -ENOENT, "The BPF object has no program '%s'", name);
}

struct bpf_link *bpf_run_iterator(struct bpf_object *o, const char *name, struct error *err)
{
	struct bpf_program *p = bpf_object__find_program_by_name(o, name);
	struct bpf_link *l = p ? bpf_program__attach_iter(p, NULL) : NULL;

	if (!l)
		error_errno(err, p ? -errno : -ENOENT, "Cannot attach the BPF iterator '%s'", name);
	return l;
}

int bpf_run_once(int prog_fd, int cpu)
{
	struct bpf_test_run_opts opts = {.sz = sizeof(opts)};

	if (cpu >= 0) {
		opts.flags = BPF_F_TEST_RUN_ON_CPU;
		opts.cpu = (uint32_t)cpu;
	}
	return bpf_prog_test_run_opts(prog_fd, &opts) < 0 ? -errno : 0;
}

int bpf_run_iterate(const struct bpf_link *l)
{
	char none[8];
	int fd = bpf_iter_create(bpf_link__fd(l));
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, none, sizeof(none));
	} while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
	int code = n < 0 ? -errno : 0;
	close(fd);
	return code;
}
