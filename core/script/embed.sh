#!/bin/sh
# SPDX-License-Identifier: MIT
# embed.sh INPUT OUTPUT NAME: the bytes of a file as a C array.
set -eu
{
    printf '/* SPDX-License-Identifier: MIT */\nstatic const unsigned char %s[] = {\n' "$3"
    od -An -v -tu1 "$1" | sed 's/ *\([0-9][0-9]*\)/\1,/g'
    printf '};\n'
} > "$2"
