#!/bin/sh
# Runs $SCRIPT as an ordinary user; see as-user.ts. Needs root, in a mount namespace of its own.
#
# PROJECT, NODE, HOME_FOLDER   what the user sees as /mnt/project, /mnt/node and /mnt/home
# USER_ID                      who the user is; belongs to nobody
# CACHE_FOLDER                 if given, the user's cache
# WITH_ENGINE                  if given, the folder of a Docker engine that the user may talk to
# WITH_MACHINES                if given, what the stand-in for smolvm needs: a name, subordinate ids, a memory cgroup of the user's own
# WITHOUT_USER_NAMESPACES      if given, the user can make none
set -e

mount -t tmpfs -o mode=755 tmpfs /mnt
mkdir /mnt/project /mnt/home /mnt/cache /mnt/etc
mkdir -m 700 /mnt/closed # a PATH may name folders that are closed to the user
touch /mnt/node
mount --bind "$PROJECT" /mnt/project
mount -o remount,bind,ro /mnt/project
mount --bind "$NODE" /mnt/node
mount --bind "$HOME_FOLDER" /mnt/home
cache=/mnt/home/cache
if [ -n "$CACHE_FOLDER" ]; then
  mount --bind "$CACHE_FOLDER" /mnt/cache
  cache=/mnt/cache
fi

groups=--clear-groups
if [ -n "$WITH_ENGINE" ]; then
  # In this namespace, so that the engine sees the same folders as the user.
  "$PROJECT/scripts/docker-engine" start "$WITH_ENGINE" >/dev/null
  chmod 711 "$(dirname "$WITH_ENGINE")" "$WITH_ENGINE"
  group=$((USER_ID + 1)) # as the group "docker" would be
  chgrp "$group" "$WITH_ENGINE/docker.sock"
  chmod 660 "$WITH_ENGINE/docker.sock"
  groups="--groups $group"
  export DOCKER_HOST="unix://$WITH_ENGINE/docker.sock" DOCKER_CONFIG="$WITH_ENGINE/no-config"
fi

cgroup=
if [ -n "$WITH_MACHINES" ]; then
  mkdir /mnt/etc/upper /mnt/etc/work
  mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/etc/upper,workdir=/mnt/etc/work /etc
  echo "plain:x:$USER_ID:$USER_ID::/mnt/home:/bin/sh" >>/etc/passwd
  echo "plain:x:$USER_ID:" >>/etc/group
  for file in subuid subgid; do echo "plain:1800000000:65536" >>"/etc/$file"; done
  cgroup=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
  mkdir "$cgroup/cl-user-$$"
  chown -R "$USER_ID:$USER_ID" "$cgroup/cl-user-$$"
  echo $$ >"$cgroup/cl-user-$$/cgroup.procs"
  export PATH="/mnt/project/test/fixtures/smolvm:$PATH" SMOLVM_DATA_DIR=/mnt/home/smolvm
fi

export PATH="/mnt/closed:$PATH"
export HOME=/mnt/home CLOCHE_HOME=/mnt/home/c CLOCHE_CACHE="$cache" CLOCHE="/mnt/node /mnt/project/dist/cli/main.js"
run=$SCRIPT
if [ -n "$WITHOUT_USER_NAMESPACES" ]; then
  # shellcheck disable=SC2016 # it expands in the shell of the user
  run='exec unshare --user --map-current-user --keep-caps sh -c "echo 0 > /proc/sys/user/max_user_namespaces; exec sh -c \"\$SCRIPT\""'
fi
code=0
# shellcheck disable=SC2086 # two words
(cd /mnt/home && exec setpriv --reuid "$USER_ID" --regid "$USER_ID" $groups sh -c "$run") || code=$?

if [ -n "$WITH_ENGINE" ]; then
  left=$(docker ps --all --format '{{.Names}}' && docker volume ls --quiet)
  [ -z "$left" ] || echo "left in the engine: $left" >&2
  "$PROJECT/scripts/docker-engine" stop "$WITH_ENGINE"
  find /tmp -maxdepth 1 -name 'cloche-links-*' -user "$USER_ID" -exec rmdir {} + # empty, and stays for the next workspace
fi
if [ -n "$cgroup" ]; then
  echo $$ >"$cgroup/cgroup.procs"
  tries=0
  until rmdir "$cgroup/cl-user-$$" 2>/dev/null; do # what has ended is in it a moment longer
    tries=$((tries + 1))
    if [ "$tries" -ge 300 ]; then
      echo "left in the user's cgroup: $(cat "$cgroup/cl-user-$$/cgroup.procs")" >&2
      break
    fi
    sleep 0.1
  done
fi
exit "$code"
