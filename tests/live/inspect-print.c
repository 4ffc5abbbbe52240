// SPDX-License-Identifier: GPL-2.0-only
/* Prints snapshots as they are: inspect-print [--no-bpf] [--probe-cpus] [TIMES [FILE]] */
#include "kontend/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_slots(const struct perfsnap *s)
{
	for (size_t i = 0; i < s->n_slots; i++)
		printf("slots cpu %u type %u: %d, cpu_pinned %d, task_pinned_max %d\n",
		       s->slots[i].cpu, s->slots[i].type, s->slots[i].slots, s->slots[i].cpu_pinned,
		       s->slots[i].task_pinned_max);
	for (size_t i = 0; i < s->n_registers; i++)
		printf("register cpu %u type %u index %u: event %u enabled %u\n",
		       s->registers[i].cpu, s->registers[i].type, s->registers[i].index,
		       s->registers[i].event, s->registers[i].enabled);
}

static void print_event(const struct perfsnap *s, const struct snap_event *e)
{
	printf("event %zu id %" PRIu64 " %s cpu %d on %d state %d flags %x owner %d/%d %s target "
	       "%d/%d %s tracer %d at 0x%" PRIx64 "/%" PRIu64 " %s count %" PRIu64 " hits %" PRId64
	       " running %" PRIu64 " of %" PRIu64 " context %u\n",
	       (size_t)(e - s->events) + 1, e->id, perfsnap_text(s, e->name), e->cpu, e->oncpu,
	       e->state, e->flags, e->owner_pid, e->owner_tid, perfsnap_text(s, e->owner_comm),
	       e->target_pid, e->target_tid, perfsnap_text(s, e->target_comm), e->tracer_pid,
	       e->bp_addr, e->bp_len, perfsnap_text(s, e->where), e->count, (int64_t)e->hits,
	       e->running_ns, e->enabled_ns, e->context);
}

static void print_snap(const struct perfsnap *s)
{
	printf("method %u missing %x incomplete %u dropped %u opened %" PRId64 " cost %" PRIu64
	       " us interval %" PRIu64 " ms %s\n",
	       s->head.method, s->head.missing, s->head.incomplete, s->head.dropped,
	       (int64_t)s->head.opened, s->head.cost_ns / 1000, s->head.interval_ns / 1000000,
	       perfsnap_text(s, s->head.reason));
	print_slots(s);
	for (size_t i = 0; i < s->n_events; i++)
		print_event(s, &s->events[i]);
	for (size_t i = 0; i < s->n_holders; i++)
		printf("holder %d fd %d %s event %u\n", s->holders[i].pid, s->holders[i].fd,
		       perfsnap_text(s, s->holders[i].comm), s->holders[i].event);
	for (size_t i = 0; i < s->n_contexts; i++)
		printf("context %zu cpu %d tid %d %s events %u pinned %u active %u rotating %u "
		       "running %u\n",
		       i + 1, s->contexts[i].cpu, s->contexts[i].tid,
		       perfsnap_text(s, s->contexts[i].comm), s->contexts[i].events,
		       s->contexts[i].pinned, s->contexts[i].active, s->contexts[i].rotating,
		       s->contexts[i].running_permille);
}

static void write_file(const struct perfsnap *s, const char *path)
{
	size_t len = perfsnap_size(s);
	char *bytes = malloc(len);
	FILE *f = fopen(path, "we");

	if (bytes && f) {
		perfsnap_encode(s, bytes);
		fwrite(bytes, 1, len, f);
	}
	if (f)
		fclose(f);
	free(bytes);
}

int main(int argc, char **argv)
{
	struct inspect_options o = {0};
	struct inspect *i = NULL;
	struct error err = {0};
	struct perfsnap s = {0};
	int k = 1;

	for (; k < argc && argv[k][0] == '-'; k++) {
		o.no_bpf |= strcmp(argv[k], "--no-bpf") == 0;
		o.probe_cpus |= strcmp(argv[k], "--probe-cpus") == 0;
	}
	int times = k < argc ? atoi(argv[k]) : 1;
	int code = inspect_new(&i, &o, &err);
	for (int n = 0; n < times && code == 0; n++) {
		if (n)
			usleep(500000);
		code = inspect_take(i, INSPECT_ALL, &s, &err);
		if (code == 0)
			print_snap(&s);
	}
	if (code)
		fprintf(stderr, "%s\n", err.text);
	else if (k + 1 < argc)
		write_file(&s, argv[k + 1]);
	perfsnap_deinit(&s);
	inspect_free(i);
	return code != 0;
}
