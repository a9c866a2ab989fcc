#!/bin/sh
# Makes the secrets of deploy/compose.yaml once, in the folder secrets/ beside it. Keep server-keys
# outside of the machine as well: without it, members cannot sign in after a restore.
set -eu
cd "$(dirname "$0")/.."
umask 077
mkdir -p secrets
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
make() { [ -e "secrets/$1" ] || printf '%s\n' "$2" >"secrets/$1"; }
make postgres-password "$(random)"
make owner-url "postgres://service_owner:$(random)@database:5432/service"
make database-url "postgres://service:$(random)@database:5432/service"
make server-keys "1:$(random)"
make grafana-password "$(random)"
# Each container reads only the files that compose.yaml gives it, under an account of the image.
chmod 711 secrets
chmod 644 secrets/*
