// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of mmap_locks, byte for byte as a kernel gives them: with the id of the memory cgroup, as
 * since Linux 6.14, or its path, as before.
 */
#include "synth-int.h"
#include <stdio.h>
#include <string.h>

static const char common[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:struct mm_struct * mm;\toffset:8;\tsize:8;\tsigned:0;\n";

static const char id_fields[] = "\tfield:u64 memcg_id;\toffset:16;\tsize:8;\tsigned:0;\n"
				"\tfield:bool write;\toffset:24;\tsize:1;\tsigned:0;\n";
static const char path_fields[] =
	"\tfield:__data_loc char[] memcg_path;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:bool write;\toffset:20;\tsize:1;\tsigned:0;\n";

static void add_format(struct synth *s, enum synth_mm what, bool path)
{
	static const char *const names[] = {"start_locking", "acquire_returned", "released"};
	char text[1024] = "mmap_lock";
	const size_t head = strlen(text) + 1;
	const unsigned success = path ? 21 : 25;

	int n = snprintf(text + head, sizeof(text) - head,
			 "name: mmap_lock_%s\nID: %d\nformat:\n%s%s", names[what],
			 SYNTH_TP_MM + what, common, path ? path_fields : id_fields);
	if (what == SYNTH_MM_ACQUIRED)
		n += snprintf(text + head + n, sizeof(text) - head - (size_t)n,
			      "\tfield:bool success;\toffset:%u;\tsize:1;\tsigned:0;\n", success);
	n += snprintf(text + head + n, sizeof(text) - head - (size_t)n,
		      "\nprint fmt: \"%%p\", REC->mm\n");
	synth_record(s, RECORD_FORMAT, 0, text, head + (size_t)n);
}

void synth_mm_prologue(struct synth *s, bool path)
{
	for (int i = 0; i < SYNTH_MMS; i++) {
		add_format(s, (enum synth_mm)i, path);
		if (i == SYNTH_MM_ACQUIRED && synth_mm_paths(s))
			synth_add_attr_chain(s, (uint64_t)(SYNTH_TP_MM + i),
					     (uint64_t)(SYNTH_ID_MM + i * 1000));
		else
			synth_add_attr(s, (uint64_t)(SYNTH_TP_MM + i),
				       (uint64_t)(SYNTH_ID_MM + i * 1000));
	}
	synth_set_mm_path(s, path);
}

void synth_mm_prologue_paths(struct synth *s)
{
	synth_set_mm_paths(s);
	synth_mm_prologue(s, true);
}

static size_t put_id(uint8_t *raw, const struct synth_mm_event *e)
{
	memcpy(raw + 16, &e->memcg_id, 8);
	raw[24] = e->write;
	raw[25] = e->success;
	return 28;
}

static size_t put_path(uint8_t *raw, const struct synth_mm_event *e)
{
	const char *path = e->memcg ? e->memcg : "";
	size_t len = strlen(path) + 1;
	uint32_t loc = (uint32_t)(len << 16 | 24);

	memcpy(raw + 16, &loc, 4);
	raw[20] = e->write;
	raw[21] = e->success;
	memcpy(raw + 24, path, len);
	return 24 + (len + 4 + 7) / 8 * 8 - 4;
}

void synth_mm(struct synth *s, const struct synth_mm_event *e)
{
	uint8_t raw[256] = {0};
	uint16_t type = (uint16_t)(SYNTH_TP_MM + e->what);
	int32_t tid = e->tid;

	memcpy(raw, &type, 2);
	memcpy(raw + 4, &tid, 4);
	memcpy(raw + 8, &e->mm, 8);
	size_t len = synth_mm_path(s) ? put_path(raw, e) : put_id(raw, e);
	uint64_t id = (uint64_t)(SYNTH_ID_MM + e->what * 1000);
	if (e->what == SYNTH_MM_ACQUIRED && synth_mm_paths(s))
		synth_chain_sample(s, id, e->cpu, e->t, e->pid, e->tid, e->frames, e->n_frames, raw,
				   len);
	else
		synth_raw_sample(s, id, e->cpu, e->t, e->pid, e->tid, raw, len);
}

void synth_mm_how(struct synth *s, const struct mmlevel_how *how, uint64_t t)
{
	struct {
		struct record_snapshot head;
		struct mmlevel_how how;
	} r = {.head = {.kind = SNAPSHOT_MMAP, .version = MMLEVEL_VERSION, .time_ns = t},
	       .how = *how};

	synth_record(s, RECORD_SNAPSHOT, 0, &r, sizeof(r));
}
