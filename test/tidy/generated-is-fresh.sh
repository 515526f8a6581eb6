#!/usr/bin/env bash
# Generates from proto/ into a folder of its own and compares: committed code must be what the protos give.
set -euo pipefail
cd "$(dirname "$0")/../.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
# buf finds the plugin of node_modules by the PATH.
PATH="$PWD/node_modules/.bin:$PATH" npx --yes @bufbuild/buf@1.75.0 generate --output "$fresh"
diff -r "$fresh/src/format/gen" src/format/gen
