#!/bin/sh
# build.sh OUT.vsix [WORK]: type-checks, bundles and packs the extension. The same packages (package-lock.json) are taken each time.
# WORK keeps them from one time to the next.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$1")"
out=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
if [ $# -gt 1 ]; then
  mkdir -p "$2"
  work=$(cd "$2" && pwd)
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
for each in package.json package-lock.json tsconfig.json language-configuration.json README.md .vscodeignore src snippets syntaxes; do
  rm -rf "${work:?}/$each"
  cp -R "$here/$each" "$work/"
done
cp "$here/../../LICENSE" "$here/../../tools/plots/licences.js" "$work/"
cd "$work"
if ! cmp -s package-lock.json node_modules/.installed; then
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
  cp package-lock.json node_modules/.installed
fi
npm run --silent check
npm run --silent bundle
node licences.js >ThirdPartyLicences.txt
node node_modules/@vscode/vsce/vsce package --no-dependencies --allow-missing-repository --out "$out" >package.log || {
  cat package.log
  exit 1
}
