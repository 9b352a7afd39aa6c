/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * aeth.c - what the five low bits of an AETH syndrome mean: credits, RNR timer (Table 45), NAK code.
 */
#include "vs/wire.h"

uint32_t vs_aeth_credits(uint8_t code)
{
	static const uint16_t credits[31] = {0,    1,    2,    3,    4,    6,     8,     12,    16,   24,   32,
					     48,   64,   96,   128,  192,  256,   384,   512,   768,  1024, 1536,
					     2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

	code &= 0x1f;
	return code == 31 ? VS_CREDITS_UNLIMITED : credits[code];
}

/* One row per timer code: hundredths of a millisecond, and the text in milliseconds. */
static const struct {
	uint32_t units_10us;
	const char *text;
} rnr_timers[32] = {
	{65536, "655.36 ms"}, {1, "0.01 ms"},       {2, "0.02 ms"},       {3, "0.03 ms"},       {4, "0.04 ms"},
	{6, "0.06 ms"},       {8, "0.08 ms"},       {12, "0.12 ms"},      {16, "0.16 ms"},      {24, "0.24 ms"},
	{32, "0.32 ms"},      {48, "0.48 ms"},      {64, "0.64 ms"},      {96, "0.96 ms"},      {128, "1.28 ms"},
	{192, "1.92 ms"},     {256, "2.56 ms"},     {384, "3.84 ms"},     {512, "5.12 ms"},     {768, "7.68 ms"},
	{1024, "10.24 ms"},   {1536, "15.36 ms"},   {2048, "20.48 ms"},   {3072, "30.72 ms"},   {4096, "40.96 ms"},
	{6144, "61.44 ms"},   {8192, "81.92 ms"},   {12288, "122.88 ms"}, {16384, "163.84 ms"}, {24576, "245.76 ms"},
	{32768, "327.68 ms"}, {49152, "491.52 ms"},
};

uint64_t vs_rnr_timer_ns(uint8_t code)
{
	return (uint64_t)rnr_timers[code & 0x1f].units_10us * 10000u;
}

const char *vs_rnr_timer_text(uint8_t code)
{
	return rnr_timers[code & 0x1f].text;
}

const char *vs_nak_text(uint8_t code)
{
	static const char *const texts[] = {"PSN sequence error", "invalid request", "remote access error",
					    "remote operational error", "invalid RD request"};

	code &= 0x1f;
	return code < sizeof(texts) / sizeof(texts[0]) ? texts[code] : "reserved";
}
