// SPDX-License-Identifier: GPL-2.0-only
/* A function that spins and sleeps for a lock, as an assembler would make it. */
#include "synth-code.h"

#include "kontend/snapshot.h"
#include "kontend/textsnap.h"

#include <stdlib.h>
#include <string.h>

// clang-format off
static const uint8_t x86_64[] = {
	0x55, /* 000 push %rbp */
	0x48, 0x89, 0xe5, /* 001 mov %rsp,%rbp */
	0x41, 0x54, /* 004 push %r12 */
	0x53, /* 006 push %rbx */
	0x48, 0x89, 0xfb, /* 007 mov %rdi,%rbx */
	0x41, 0x89, 0xf4, /* 00a mov %esi,%r12d */
	0x81, 0xfe, 0x00, 0x01, 0x00, 0x00, /* 00d cmp $0x100,%esi */
	0x75, 0x14, /* 013 jne +0x29 */
	0xb9, 0x00, 0x02, 0x00, 0x00, /* 015 mov $0x200,%ecx */
	0x8b, 0x03, /* 01a mov (%rbx),%eax */
	0x3d, 0x00, 0x01, 0x00, 0x00, /* 01c cmp $0x100,%eax */
	0x75, 0x06, /* 021 jne +0x29 */
	0xf3, 0x90, /* 023 pause */
	0xff, 0xc9, /* 025 dec %ecx */
	0x75, 0xf1, /* 027 jne +0x1a */
	0x8b, 0x03, /* 029 mov (%rbx),%eax */
	0xa9, 0x00, 0xff, 0xff, 0xff, /* 02b test $0xffffff00,%eax */
	0x75, 0x26, /* 030 jne +0x58 */
	0x89, 0xc2, /* 032 mov %eax,%edx */
	0x81, 0xca, 0x00, 0x01, 0x00, 0x00, /* 034 or $0x100,%edx */
	0xf0, 0x0f, 0xb1, 0x13, /* 03a lock cmpxchg %edx,(%rbx) */
	0x75, 0xe9, /* 03e jne +0x29 */
	0x84, 0xc0, /* 040 test %al,%al */
	0x74, 0x0b, /* 042 je +0x4f */
	0x0f, 0xb6, 0x03, /* 044 movzbl (%rbx),%eax */
	0x84, 0xc0, /* 047 test %al,%al */
	0x74, 0x04, /* 049 je +0x4f */
	0xf3, 0x90, /* 04b pause */
	0xeb, 0xf5, /* 04d jmp +0x44 */
	0xc6, 0x03, 0x01, /* 04f movb $0x1,(%rbx) */
	0xc6, 0x43, 0x01, 0x00, /* 052 movb $0x0,0x1(%rbx) */
	0xeb, 0x38, /* 056 jmp +0x90 */
	0x48, 0x89, 0xdf, /* 058 mov %rbx,%rdi */
	0x44, 0x89, 0xe6, /* 05b mov %r12d,%esi */
	0xe8, 0x9d, 0x2f, 0xff, 0xff, /* 05e call mutex_lock */
	0x83, 0x3d, 0x9a, 0xef, 0xfc, 0x00, 0x00, /* 063 cmpl $0x0,tasklist_lock+0x4(%rip) */
	0x74, 0x05, /* 06a je +0x71 */
	0x48, 0x89, 0xdf, /* 06c mov %rbx,%rdi */
	0xff, 0xd0, /* 06f call *%rax */
	0xba, 0x01, 0x00, 0x00, 0x00, /* 071 mov $0x1,%edx */
	0x31, 0xc0, /* 076 xor %eax,%eax */
	0xf0, 0x0f, 0xb1, 0x13, /* 078 lock cmpxchg %edx,(%rbx) */
	0x74, 0x06, /* 07c je +0x84 */
	0xf3, 0x90, /* 07e pause */
	0xf3, 0x90, /* 080 pause */
	0xeb, 0xf2, /* 082 jmp +0x76 */
	0x45, 0x85, 0xe4, /* 084 test %r12d,%r12d */
	0x74, 0xa0, /* 087 je +0x29 */
	0xf0, 0xff, 0x05, 0xb0, 0xef, 0xfc, 0x00, /* 089 lock incl 0xfcefb0(%rip) # cgroup_mutex */
	0x5b, /* 090 pop %rbx */
	0x41, 0x5c, /* 091 pop %r12 */
	0x5d, /* 093 pop %rbp */
	0x83, 0x3d, 0x65, 0xef, 0xfc, 0x00, 0x00, /* 094 cmpl $0x0,0xfcef65(%rip) # tasklist_lock */
	0x0f, 0x85, 0x5f, 0x1f, 0xff, 0xff, /* 09b jne down_read */
	0xc3, /* 0a1 ret */
	0x90, /* 0a2 nop */
	0xcc, /* 0a3 int3 */
	0xcc, /* 0a4 int3 */
};

static const uint32_t arm64[] = {
	0xa9be7bfd, /* 000 stp x29,x30,[sp,#-32]! */
	0x910003fd, /* 004 mov x29,sp */
	0xf9000bf3, /* 008 str x19,[sp,#16] */
	0xaa0003f3, /* 00c mov x19,x0 */
	0x885ffe61, /* 010 ldaxr w1,[x19] */
	0x374000a1, /* 014 tbnz w1,#8,+0x28 */
	0x32180022, /* 018 orr w2,w1,#0x100 */
	0x88037e62, /* 01c stxr w3,w2,[x19] */
	0x35ffff83, /* 020 cbnz w3,+0x10 */
	0x1400000b, /* 024 b +0x50 */
	0xd503205f, /* 028 wfe */
	0xb9400261, /* 02c ldr w1,[x19] */
	0x3747ffc1, /* 030 tbnz w1,#8,+0x28 */
	0x7100003f, /* 034 cmp w1,#0x0 */
	0x54fffec0, /* 038 b.eq +0x10 */
	0xaa1303e0, /* 03c mov x0,x19 */
	0x97ffcbf0, /* 040 bl mutex_lock */
	0x34000040, /* 044 cbz w0,+0x4c */
	0xd63f0020, /* 048 blr x1 */
	0x17fffff1, /* 04c b +0x10 */
	0xf9400bf3, /* 050 ldr x19,[sp,#16] */
	0xa8c27bfd, /* 054 ldp x29,x30,[sp],#32 */
	0x34f8fd40, /* 058 cbz w0,down_read */
	0xd65f03c0, /* 05c ret */
	0xd503201f, /* 060 nop */
};
// clang-format on

static void put_snapshot(struct synth *s, const void *code, size_t n)
{
	const struct {
		struct record_snapshot snap;
		struct textsnap_head head;
		struct textsnap_item item;
	} begin = {.snap = {.kind = SNAPSHOT_TEXT, .version = TEXTSNAP_VERSION},
		   .head = {.n = 1},
		   .item = {.addr = SYNTH_CODE,
			    .at = sizeof(begin.head) + sizeof(begin.item),
			    .len = (uint32_t)n}};
	char *body = malloc(sizeof(begin) + n);

	if (!body)
		abort();
	memcpy(body, &begin, sizeof(begin));
	memcpy(body + sizeof(begin), code, n);
	synth_record(s, RECORD_SNAPSHOT, 0, body, sizeof(begin) + n);
	free(body);
}

static void put_host(struct synth *s)
{
	struct record_host host = {.wall_ns = 1795184405120000000ull,
				   .cpus = 2,
				   .cpus_online = 2,
				   .release = "6.18.44",
				   .machine = "aarch64",
				   .targets = "all CPUs",
				   .method = "perf ring"};

	synth_record(s, RECORD_HOST, 0, &host, sizeof(host));
}

void synth_code(struct synth *s, enum synth_machine m)
{
	if (m == SYNTH_ARM64)
		put_host(s);
	if (m == SYNTH_ARM64)
		put_snapshot(s, arm64, sizeof(arm64));
	else
		put_snapshot(s, x86_64, sizeof(x86_64));
}
