#!/usr/bin/env bash
# Downloads what the tests on Robolectric need from Maven Central into the local repository: 1.2 GB, once.
set -euo pipefail

cd "$(dirname "$0")/.."

get() {
    mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:2.8:get "$@"
}

# Robolectric looks for these in the local repository before it would download them itself.
for release in 10-robolectric-5803371-i7 14-robolectric-10818077-i7 16-robolectric-13921718-i7 17-robolectric-15733970-i7; do
    get -Dtransitive=false -Dartifact="org.robolectric:android-all-instrumented:$release"
done
get -Dartifact=de.femtopedia.dex2jar:dex-translator:2.4.24

# The plugins and libraries of the module: resolved before each step finds that it is to be skipped.
mvn --quiet --batch-mode --file device_shim/android/robolectric/pom.xml \
    -Dmaven.main.skip=true -Dmaven.test.skip=true test
