#!/usr/bin/env bash
# Unpacks Android's adbd, which Debian has since release 13, and its libraries below .cache/adbd: 26 MB, once.
# Nothing is installed: the machine's own Debian may be older.
set -euo pipefail

cd "$(dirname "$0")/.."
release=trixie
packages=(adbd android-libbase android-libboringssl android-libcutils android-liblog libbrotli1 libc6 libcap2
    libgcc-s1 liblz4-1 libprotobuf32t64 libstdc++6 libsystemd0 libxxhash0 libzstd1 zlib1g)

place=$PWD/.cache/adbd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists,cache/archives}/partial "$place"
sources=/etc/apt/sources.list.d/debian.sources
uri=$(sed -n 's/^URIs: *//p' "$sources" | head -n 1)
key=$(sed -n 's/^Signed-By: *//p' "$sources" | head -n 1)
echo "deb [signed-by=$key] $uri $release main" >"$work/sources.list"

options=(-qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o Acquire::Languages=none
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false -o APT::Sandbox::User=root
    -o Acquire::Retries=0 -o Acquire::http::Timeout=15)
apt-get "${options[@]}" update
(cd "$work" && apt-get "${options[@]}" download "${packages[@]}")
for package in "$work"/*.deb; do
    dpkg-deb --extract "$package" "$work/unpacked"
done
cp -a "$work/unpacked/." "$place/"
