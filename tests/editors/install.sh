#!/bin/sh
# install.sh DIR: what the tests of the editors need. Neovim (Debian's, where there is none), the TextMate engine of VS Code,
# and DIR/mcpe.vsix, the extension made from its packages.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$1
mkdir -p "$target"
target=$(cd "$target" && pwd)

if ! command -v nvim >/dev/null 2>&1; then
  echo "no Neovim here: taking Debian's"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends neovim >/dev/null
fi
nvim --version | head -n 1

# The servers' place has a node where the machine has none.
PATH="$PATH:$target/../bin:$target/../nodeenv/bin"
export PATH
cp "$here/package.json" "$here/package-lock.json" "$target/"
(cd "$target" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
sh "$here/../../editors/vscode/build.sh" "$target/mcpe.vsix" "$target/vscode"
