/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* inventory.c - reads inventory.tsv: what has to be shown of a device, a row each. */
#include "conform.h"

#include <stdlib.h>
#include <string.h>

static bool read_row(struct vc_row *row, char *line)
{
	for (unsigned i = 0; i < VC_COLUMNS; i++) {
		char *tab = strchr(line, '\t');

		row->col[i] = line;
		if (tab == NULL)
			return i == VC_COLUMNS - 1;
		if (i == VC_COLUMNS - 1)
			return false;
		*tab = '\0';
		line = tab + 1;
	}
	return false;
}

int vc_inventory_read(struct vc_inventory *inv, const char *path)
{
	size_t lines = 0, number = 0;
	char *save = NULL;

	*inv = (struct vc_inventory){.text = vc_read_file(path, 4u << 20, NULL)};
	if (inv->text == NULL)
		return VC_USAGE;
	for (const char *c = inv->text; *c != '\0'; c++)
		lines += *c == '\n';
	inv->row = calloc(lines + 1, sizeof(*inv->row));
	if (inv->row == NULL)
		return vc_complain("no memory"), VC_USAGE;
	for (char *l = strtok_r(inv->text, "\n", &save); l != NULL; l = strtok_r(NULL, "\n", &save)) {
		struct vc_row *row = &inv->row[inv->n];

		if (number++ == 0) /* names of the columns */
			continue;
		if (!read_row(row, l)) {
			vc_complain("%s:%zu: a row has %d columns, with tabs between them", path, number, VC_COLUMNS);
			return VC_USAGE;
		}
		row->vectors = (unsigned)atoi(row->col[VC_COL_VECTORS]);
		inv->n++;
	}
	return VC_OK;
}

void vc_inventory_free(struct vc_inventory *inv)
{
	free(inv->row);
	free(inv->text);
}

const struct vc_row *vc_inventory_find(const struct vc_inventory *inv, const char *case_id)
{
	for (size_t i = 0; i < inv->n; i++) {
		size_t n = strlen(inv->row[i].col[VC_COL_ID]);

		if (strncmp(case_id, inv->row[i].col[VC_COL_ID], n) == 0 && (case_id[n] == '\0' || case_id[n] == '-'))
			return &inv->row[i];
	}
	return NULL;
}
