// SPDX-License-Identifier: GPL-2.0-only
/* The kernel symbols of canned streams, and addresses within their functions. */
#include "synth.h"

#define BASE 0xffffffff81000000ull

static const uint64_t addresses[SYNTH_ADDRESSES] = {
	[SYNTH_VM_MMAP_PGOFF] = BASE + 0x1000,
	[SYNTH_VM_MUNMAP] = BASE + 0x2000,
	[SYNTH_X64_SYS_MUNMAP] = BASE + 0x3000,
	[SYNTH_X64_SYS_MMAP] = BASE + 0x4000,
	[SYNTH_LOCK_MM_AND_FIND_VMA] = BASE + 0x5000,
	[SYNTH_DO_USER_ADDR_FAULT] = BASE + 0x6000,
	[SYNTH_EXC_PAGE_FAULT] = BASE + 0x7000,
	[SYNTH_PIPE_READ] = BASE + 0x8000,
	[SYNTH_PIPE_WRITE] = BASE + 0x9000,
	[SYNTH_VFS_READ] = BASE + 0xa000,
	[SYNTH_VFS_WRITE] = BASE + 0xb000,
	[SYNTH_KSYS_READ] = BASE + 0xc000,
	[SYNTH_KSYS_WRITE] = BASE + 0xd000,
	[SYNTH_RMQUEUE_BULK] = BASE + 0xe000,
	[SYNTH_GET_PAGE] = BASE + 0xf000,
	[SYNTH_DO_SYSCALL_64] = BASE + 0x10000,
	[SYNTH_ENTRY_SYSCALL] = BASE + 0x11000,
	[SYNTH_TRACEITER_BEGIN] = BASE + 0x12000,
	[SYNTH_RWSEM_DOWN_WRITE_SLOWPATH] = BASE + 0x20000,
	[SYNTH_RWSEM_DOWN_READ_SLOWPATH] = BASE + 0x21000,
	[SYNTH_DOWN_WRITE_KILLABLE] = BASE + 0x22000,
	[SYNTH_DOWN_READ] = BASE + 0x23000,
	[SYNTH_MUTEX_LOCK] = BASE + 0x24000,
	[SYNTH_MUTEX_LOCK_SLOWPATH] = BASE + 0x25000,
	[SYNTH_QSPIN_SLOWPATH] = BASE + 0x31000,
	[SYNTH_RAW_SPIN_LOCK] = BASE + 0x32000,
	[SYNTH_RESILIENT_SLOWPATH] = BASE + 0x32800,
};

const char synth_kallsyms[] = "ffffffff81000000 T _stext\n"
			      "ffffffff81001000 T vm_mmap_pgoff\n"
			      "ffffffff81002000 T __vm_munmap\n"
			      "ffffffff81003000 T __x64_sys_munmap\n"
			      "ffffffff81004000 T __x64_sys_mmap\n"
			      "ffffffff81005000 T lock_mm_and_find_vma\n"
			      "ffffffff81006000 t do_user_addr_fault\n"
			      "ffffffff81007000 T exc_page_fault\n"
			      "ffffffff81008000 t pipe_read\n"
			      "ffffffff81009000 t pipe_write\n"
			      "ffffffff8100a000 T vfs_read\n"
			      "ffffffff8100b000 T vfs_write\n"
			      "ffffffff8100c000 T ksys_read\n"
			      "ffffffff8100d000 T ksys_write\n"
			      "ffffffff8100e000 t rmqueue_bulk\n"
			      "ffffffff8100f000 t get_page_from_freelist\n"
			      "ffffffff81010000 T do_syscall_64\n"
			      "ffffffff81011000 T entry_SYSCALL_64_after_hwframe\n"
			      "ffffffff81012000 T __traceiter_contention_begin\n"
			      "ffffffff81013000 t perf_mux_hrtimer_handler\n"
			      "ffffffff81020000 T __sched_text_start\n"
			      "ffffffff81020000 t rwsem_down_write_slowpath\n"
			      "ffffffff81021000 t rwsem_down_read_slowpath\n"
			      "ffffffff81022000 T down_write_killable\n"
			      "ffffffff81023000 T down_read\n"
			      "ffffffff81024000 T mutex_lock\n"
			      "ffffffff81025000 t __mutex_lock.constprop.0\n"
			      "ffffffff81030000 T __sched_text_end\n"
			      "ffffffff81031000 T __lock_text_start\n"
			      "ffffffff81031000 T native_queued_spin_lock_slowpath\n"
			      "ffffffff81032000 T _raw_spin_lock\n"
			      "ffffffff81032800 T resilient_queued_spin_lock_slowpath\n"
			      "ffffffff81033000 T __lock_text_end\n"
			      "ffffffff81034000 T _etext\n"
			      "ffffffff82000000 D tasklist_lock\n"
			      "ffffffff82000040 D cgroup_mutex\n";

uint64_t synth_addr(enum synth_address a)
{
	return addresses[a] + 0x1c;
}
