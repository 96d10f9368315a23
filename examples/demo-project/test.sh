#!/bin/sh
# Checks slug.sh. Exits with 1 when an answer is wrong.
failed=0

check() {
  got=$(sh ./slug.sh "$1")
  if [ "$got" = "$2" ]; then
    echo "ok    '$1' -> $got"
  else
    echo "FAIL  '$1' -> $got, expected $2"
    failed=1
  fi
}

check "Hello World" hello-world
check "Under  glass!" under-glass
exit $failed
