/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* number.c - figures as people write them. */
#include <math.h>
#include <string.h>

#include "report.h"

double report_step(double raw)
{
	double ten = pow(10, floor(log10(raw)));
	double part = raw / ten;

	return part <= 1 ? ten : part <= 2 ? 2 * ten : part <= 5 ? 5 * ten : 10 * ten;
}

/* "1234567" -> "1,234,567"; what follows a point stays. */
static void put_commas(const char *digits, char *buf, size_t size)
{
	size_t whole = strcspn(digits, "."), n = 0;

	for (size_t i = 0; digits[i] != '\0' && n + 2 < size; i++) {
		if (i > 0 && i < whole && (whole - i) % 3 == 0 && digits[i - 1] != '-')
			buf[n++] = ',';
		buf[n++] = digits[i];
	}
	buf[n] = '\0';
}

const char *report_format(double value, char *buf, size_t size)
{
	double size_of = fabs(value), unit;
	char digits[64];
	int places;

	if (size_of == 0) {
		(void)snprintf(buf, size, "0");
		return buf;
	}
	if (size_of >= 1e15 || size_of < 1e-6) {
		(void)snprintf(buf, size, "%.3e", value);
		return buf;
	}
	places = 3 - (int)floor(log10(size_of));
	if (places < 0) {
		unit = pow(10, -places);
		value = round(value / unit) * unit;
		places = 0;
	}
	(void)snprintf(digits, sizeof(digits), "%.*f", places, value);
	while (strchr(digits, '.') != NULL && strchr("0.", digits[strlen(digits) - 1]) != NULL) {
		bool point = digits[strlen(digits) - 1] == '.';

		digits[strlen(digits) - 1] = '\0';
		if (point)
			break;
	}
	put_commas(digits, buf, size);
	return buf;
}
