#!/bin/sh
# Runs at the end of `npm ci`. Node 26 needs libatomic, which a minimal Debian or Ubuntu lacks. Where it does not start,
# Node 24 takes its place: it needs no such library.
set -u
node=node_modules/.bin/node
folder=cli/node-24

# Without optional packages, as in production, the machine has its Node.
[ -L "$node" ] || exit 0
reason=$("$node" --version 2>&1) && exit 0

echo "Node 26 does not start here, so Node 24 is installed for the commands ($reason)"
# With the Node that runs npm: the first one on the path is the one that does not start.
"$npm_node_execpath" "$npm_execpath" ci --prefix "$folder" --no-audit --no-fund &&
  rm -rf "$folder"/node_modules/node-linux-*/include && ln -sf "../../$folder/$node" "$node" && "$node" --version && exit 0
echo 'Node 24 cannot be used either. Install libatomic (Debian, Ubuntu: libatomic1), and run npm ci again.' >&2
exit 1
