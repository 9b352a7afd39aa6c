/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * answers.c - for the tests alone: fills every answer of a predict.txt with what is right, from the run that stands
 * beside it.
 *
 *   lab_answers LABS NN SEED WORK
 */
#include <stdlib.h>
#include <string.h>

#include "../vslab.h"

bool vl_korean;

static int fill(const struct vl_lab *lab, uint32_t seed, const char *work)
{
	char trace[PATH_MAX], capture[PATH_MAX], output[PATH_MAX], predict[PATH_MAX], why[256] = "";
	struct vs_record *record;
	struct vl_truth t[VL_QUESTIONS];
	char *text, *save = NULL, *printed, *out = NULL;
	size_t len = 0;
	unsigned question = 0;
	FILE *f = open_memstream(&out, &len);

	(void)snprintf(trace, sizeof(trace), "%.3000s/run.vst", work);
	(void)snprintf(capture, sizeof(capture), "%.3000s/lab-%s.pcap", work, lab->id);
	(void)snprintf(output, sizeof(output), "%.3000s/output.txt", work);
	(void)snprintf(predict, sizeof(predict), "%.3000s/predict.txt", work);
	record = vs_record_read(trace, capture, why, sizeof(why));
	printed = vl_read(output, NULL);
	text = vl_read(predict, NULL);
	if (f == NULL || text == NULL || (record == NULL && vl_has_record(lab)) ||
	    vl_truths(lab, seed, record, printed, t) < 0) {
		vl_complain("%s: %s", work, why);
		return 1;
	}
	for (char *line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
		unsigned long n = strtoul(line, NULL, 10);
		const char *blank = line + strspn(line, " ");
		bool answer = strncmp(blank, "answer:", 7) == 0 || strncmp(blank, "답:", strlen("답:")) == 0;

		if (n > 0 && n < VL_QUESTIONS && line[0] != ' ')
			question = (unsigned)n;
		if (answer && question > 0)
			fprintf(f, "   answer: %s\n", t[question].question != 0 ? t[question].value : "?");
		else
			fprintf(f, "%s\n", line);
	}
	(void)fclose(f);
	free(text);
	free(printed);
	vs_record_free(record);
	len = vl_write(predict, out, len);
	free(out);
	return len ? 0 : 1;
}

int main(int argc, char **argv)
{
	static struct vl_lab lab[VL_LABS];
	int n = argc == 5 ? vl_catalog(argv[1], lab) : -1;

	for (int i = 0; i < n; i++)
		if (strcmp(lab[i].id, argv[2]) == 0)
			return fill(&lab[i], (uint32_t)strtoul(argv[3], NULL, 10), argv[4]);
	vl_complain("usage: lab_answers LABS NN SEED WORK");
	return 2;
}
