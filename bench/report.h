/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * report.h - bench-report: what bench/run.sh gathered becomes bench.json, and a page for people. README.md has the form
 * of both.
 *
 *   read.c    the records, each checked: what is wrong with one costs its benchmark, not the report
 *   page.c    the page: the machine, a table and a plot for each benchmark
 *   plot.c    the plot
 *   number.c  figures as people write them
 *   main.c    the command line
 */
#ifndef VS_BENCH_REPORT_H
#define VS_BENCH_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define PROGRAM "bench-report"
#define SCHEMA "verbscope-bench/1"

/* ---- read.c ---- */

/* The document of bench.json, of the records of a file; NULL with a message. */
json_t *report_read(const char *path);
/* Members that are checked already: the text or "", the number or `otherwise`. */
const char *report_text(const json_t *o, const char *key);
double report_number(const json_t *o, const char *key, double otherwise);
bool report_has(const json_t *o, const char *key); /* a number is there */

/* ---- page.c, plot.c ---- */

void report_put_page(const json_t *doc, FILE *f);
void report_put_plot(const json_t *benchmark, FILE *f);
/* Text of others: what has a meaning in HTML, and what is no character for people, does no harm. */
void report_put_text(FILE *f, const char *text);

/* ---- number.c ---- */

/* Four digits, thousands apart: "817,700", "12.34", "0.004321". */
const char *report_format(double value, char *buf, size_t size);
/* The next 1, 2 or 5 times a power of ten that is not below: the distance of ticks. */
double report_step(double raw);

#endif
