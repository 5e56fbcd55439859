#!/bin/sh
# install.sh DIR: what the tests of the report's page need. Chromium (Debian's, where there is none), axe-core, and in
# DIR/plots the page's plotting library made again from its packages.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$1
mkdir -p "$target"
target=$(cd "$target" && pwd)

if ! command -v chromium >/dev/null 2>&1; then
  echo "no chromium here: taking Debian's"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
fi
chromium --version

# The servers' place has a node where the machine has none.
PATH="$PATH:$target/../bin:$target/../nodeenv/bin"
export PATH
cp "$here/package.json" "$here/package-lock.json" "$target/"
(cd "$target" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
test -f "$target/node_modules/axe-core/axe.min.js"
mkdir -p "$target/plots"
sh "$here/../../tools/plots/bundle.sh" "$target/plots"
