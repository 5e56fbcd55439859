#!/bin/sh
# bundle.sh FOLDER: writes plot.js, the plotting library of the report's page, and plot-licences.txt, what is in it.
# The same packages (package-lock.json) give the same bytes: the tests make it again and compare.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/package.json" "$here/package-lock.json" "$here/entry.js" "$here/licences.js" "$work/"
cd "$work"
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
node node_modules/esbuild/bin/esbuild entry.js --bundle --minify --charset=ascii --legal-comments=none --format=iife \
  --global-name=Plot --log-level=error --metafile=meta.json --outfile=bundle.js
node licences.js >licences.txt
{ printf '/*\n'; cat licences.txt; printf '*/\n'; cat bundle.js; } >"$target/plot.js"
cp licences.txt "$target/plot-licences.txt"
