#!/bin/sh
# slug.sh TEXT: prints TEXT as a part of a URL.
printf '%s\n' "$1" | tr 'A-Z' 'a-z' | tr ' ' '-'
