/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* stream.h - what the command line of vs-agent leads to. */
#ifndef AG_STREAM_H
#define AG_STREAM_H

#include "cli/cli.h"

#define AG_NAME 64u /* bytes of a device's name */

/* Standard input and output, or the device `serial`. An exit code. */
int ag_serve(const char *device, const char *serial);
/* "vs-agent: text" on stderr; 2. */
#define AG_PROGRAM "vs-agent"
#define ag_fail(...) vs_cli_fail(AG_PROGRAM, NULL, __VA_ARGS__)

#endif
