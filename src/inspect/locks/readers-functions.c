// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of Linux 5.19 to 6.18 that are called, or call others, with a lock held for reading.
 * Instead of a function that takes the lock itself, one that it calls with the lock held is listed,
 * or the one that it calls to take it is listed as well (READER_ACQUIRES). Names that kallsyms has
 * several times are left out if the others are different functions.
 *
 * A fault releases the mmap_lock before it sleeps (READER_DROPS), except in a task that reads
 * another process's memory: that one keeps it until the page is there.
 */
#include "internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { H = READER_HOLDS, A = READER_ACQUIRES, D = READER_DROPS, SAYS = 1 << 16 };

static const struct known {
	const char *name;
	unsigned int flags, proof;
} known[] = {
	{"show_smap", H, PROOF_MAPS},
	{"show_smaps_rollup", H, PROOF_MAPS},
	{"show_numa_map", H, PROOF_MAPS},
	{"show_map", H | READER_NOT_MAPS, PROOF_MAPS},
	{"do_procmap_query", H | READER_NOT_MAPS, PROOF_MAPS},
	{"pagemap_pmd_range", H, PROOF_NONE},
	{"pagemap_pte_hole", H, PROOF_NONE},
	{"pagemap_hugetlb_range", H, PROOF_NONE},
	{"pagemap_read", SAYS, PROOF_MEM},
	{"pagemap_scan_pmd_entry", H, PROOF_NONE},
	{"pagemap_scan_pte_hole", H, PROOF_NONE},
	{"do_pagemap_scan", SAYS, PROOF_MEM},
	{"do_pagemap_cmd", SAYS, PROOF_MEM},
	{"__access_remote_vm", H | READER_KEEPS, PROOF_NONE},
	{"copy_remote_vm_str", H | READER_KEEPS, PROOF_NONE},
	{"__copy_remote_vm_str", H | READER_KEEPS, PROOF_NONE},
	{"mem_rw", SAYS, PROOF_MEM},
	{"environ_read", SAYS, PROOF_MEM},
	{"get_mm_cmdline", SAYS, PROOF_PID},
	{"proc_pid_cmdline_read", SAYS, PROOF_PID},
	{"__get_user_pages", H, PROOF_OWN},
	{"get_user_pages_remote", SAYS, PROOF_NONE},
	{"pin_user_pages_remote", SAYS, PROOF_NONE},
	{"process_vm_rw", SAYS, PROOF_NONE},
	{"process_vm_rw_core", SAYS, PROOF_NONE},
	{"ptrace_access_vm", SAYS, PROOF_NONE},
	{"access_process_vm", SAYS, PROOF_NONE},
	{"handle_mm_fault", H | READER_NOT_VMA, PROOF_OWN},
	{"mincore_pte_range", H, PROOF_OWN},
	{"swapin_walk_pmd_entry", H, PROOF_OWN},
	{"madvise_cold_or_pageout_pte_range", H, PROOF_OWN},
	{"madvise_dontneed_free", H | READER_NOT_MADVISE, PROOF_OWN},
	{"madvise_free_pte_range", H | READER_NOT_MADVISE, PROOF_OWN},
	{"__do_sys_process_madvise", SAYS, PROOF_NONE},
	{"__x64_sys_process_madvise", SAYS, PROOF_NONE},
	{"__arm64_sys_process_madvise", SAYS, PROOF_NONE},
	{"change_prot_numa", H, PROOF_NONE},
	{"task_numa_work", SAYS, PROOF_OWN},
	{"mwriteprotect_range", H, PROOF_UFFD},
	{"mfill_atomic", H | READER_NOT_VMA, PROOF_UFFD},
	{"__mcopy_atomic", H, PROOF_UFFD},
	{"iterate_dir", H, PROOF_INODE},
	{"iomap_dio_rw", H, PROOF_INODE},
	{"xfs_file_buffered_read", H, PROOF_INODE},
	{"xfs_file_dax_read", H, PROOF_INODE},
	{"nfs_file_read", H, PROOF_INODE},
	{"handle_userfault", D, 0},
	{"filemap_fault", D, 0},
	{"shmem_fault", D, 0},
	{"__folio_lock_or_retry", D, 0},
	{"__lock_page_or_retry", D, 0},
	{"do_user_addr_fault", D, 0},
	{"do_page_fault", D, 0},
	{"down_read", A, 0},
	{"down_read_killable", A, 0},
	{"down_read_interruptible", A, 0},
	{"down_read_trylock", A, 0},
	{"rwsem_down_read_slowpath", A, 0},
	{"mmap_read_lock_killable", A, 0},
	{"lock_mm_and_find_vma", A, 0},
	{"xfs_ilock", A, 0},
	{"nfs_start_io_read", A, 0},
	{"nfs_end_io_read", A, 0},
	{"up_read", A, 0},
	{"rcu_sync_enter", READER_RCU, 0},
	{"asm_sysvec_call_function_single", READER_ENTRY, 0},
	{"asm_sysvec_call_function", READER_ENTRY, 0},
	{"el1h_64_irq", READER_ENTRY, 0},
};

enum { KNOWN = sizeof(known) / sizeof(known[0]), BUCKETS = 256 };

/* Kallsyms has a hundred thousand names: a hash table finds the listed ones. */
struct by_name {
	unsigned char bucket[BUCKETS]; /* first of its chain + 1 */
	unsigned char next[KNOWN];
};

static unsigned int hash(const char *name, size_t len)
{
	unsigned int h = 0;

	for (size_t i = 0; i < len; i++)
		h = h * 31 + (unsigned char)name[i];
	return (h ^ h >> 8) % BUCKETS;
}

static void index_names(struct by_name *b)
{
	memset(b, 0, sizeof(*b));
	for (size_t i = 0; i < KNOWN; i++) {
		unsigned int h = hash(known[i].name, strlen(known[i].name));
		b->next[i] = b->bucket[h];
		b->bucket[h] = (unsigned char)(i + 1);
	}
}

static const struct known *find_function(const struct by_name *b, const char *name, size_t len)
{
	for (unsigned int i = b->bucket[hash(name, len)]; i; i = b->next[i - 1])
		if (strlen(known[i - 1].name) == len && memcmp(known[i - 1].name, name, len) == 0)
			return &known[i - 1];
	return NULL;
}

/* Length without the suffixes of compilers for parts and copies of functions; 0 for ".cold". */
static size_t name_length(const char *name, const char *end)
{
	const char *p = name;

	while (p < end && *p != ' ' && *p != '\t' && *p != '\n' && *p != '.')
		p++;
	if (end - p >= 5 && memcmp(p, ".cold", 5) == 0)
		return 0;
	return (size_t)(p - name);
}

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static int by_start(const void *a, const void *b)
{
	const struct raw_reader_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* "ffffffff81795e50 t show_smap"; @end is after the line. False: it is no line. */
static bool parse(const char *line, const char *end, uint64_t *ret_addr, char *ret_type,
		  const char **ret_name)
{
	uint64_t addr = 0;
	int digits = 0;

	for (; line < end && digits < 16; line++, digits++) {
		int c = *line | 0x20;
		bool is_digit = c >= '0' && c <= '9';
		if (!is_digit && !(c >= 'a' && c <= 'f'))
			break;
		addr = addr << 4 | (uint64_t)(is_digit ? c - '0' : c - 'a' + 10);
	}
	if (!digits || end - line < 4 || line[0] != ' ' || line[2] != ' ')
		return false;
	*ret_addr = addr;
	*ret_type = line[1];
	*ret_name = line + 3;
	return true;
}

/*
 * The symbols of the kernel image are in the order of their addresses: a function ends at the next
 * one.
 */
uint32_t readers_functions_find(const char *text, size_t len, struct raw_reader_range *ret)
{
	const char *end = text + len, *name;
	struct raw_reader_range *open = NULL;
	struct by_name names;
	uint64_t addr;
	uint32_t n = 0;
	char type;

	index_names(&names);
	for (const char *line = text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		bool ok = parse(line, stop, &addr, &type, &name) && addr;
		line = stop < end ? stop + 1 : end;
		if (ok && open && addr > open->start) {
			open->end = addr;
			open = NULL;
		}
		if (!ok || !is_text(type) || n == RAW_READER_RANGES)
			continue;
		const struct known *k = find_function(&names, name, name_length(name, stop));
		if (!k || (n && ret[n - 1].start == addr))
			continue;
		open = &ret[n++];
		*open = (struct raw_reader_range){addr, addr, k->flags, k->proof};
	}
	qsort(ret, n, sizeof(*ret), by_start);
	return n;
}
