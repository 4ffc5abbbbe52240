/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_FLEET_INT_H
#define KONTEND_REPORT_FLEET_INT_H

#include "kontend/fleet-report.h"
#include "kontend/jsonw.h"

/* What is said of many recordings, merged or compared. */
void fleet_faults_text(const struct fleet_given *g, FILE *out);
void fleet_faults_json(const struct fleet_given *g, struct jsonw *j);
void fleet_damage_text(const struct fleet_sum *sum, FILE *out);
void fleet_when_text(const struct fleet_sum *sum, FILE *out);
void fleet_numbers_json(const struct fleet_sum *sum, struct jsonw *j);

#endif
