# SPDX-License-Identifier: Apache-2.0
#
# ./skein release VERSION: builds all files of a release, and says what is left for a person.
# The launcher ../../skein reads this file.

release_help='usage: ./skein release VERSION

Builds VERSION, such as 0.1.0 or 0.1.0-beta1, twice from the commit that is checked out, each time in a new folder, and compares
the jars byte for byte. The result is in target/release:

  repository/         what the registry gets: jars, sources, documentation, poms, checksums
  skein-VERSION.zip   the same in one file, to upload

SKEIN_SIGN=KEY signs the files with that GPG key. Nothing is uploaded, tagged or committed; what is left to do is printed at the end.'

# Writes $commit as VERSION into FOLDER.
release_sources() { # FOLDER VERSION
  mkdir -p "$1"
  (cd "$root" && git archive "$commit") | tar -x -C "$1"
  grep -rlF "$old_version" "$1" --include=pom.xml --include=README.md --include=interop.md --include=cli.clj |
    while IFS= read -r file; do
      sed "s/$(printf %s "$old_version" | sed 's/\./\\./g')/$2/g" "$file" >"$file.new" && cat "$file.new" >"$file" && rm "$file.new"
    done
}

# Builds FOLDER into its repository, with the profiles of a release and the given ones.
release_build() { # FOLDER [-P PROFILE OPTION]
  folder=$1
  shift
  (cd "$folder" && JAVA_HOME=$java_home mvn -q -B -P spark "$@" -Dskein.release -DskipTests -Dmaven.install.skip \
    "-DaltDeploymentRepository=release::file:$folder/target/repository" deploy) >"$log" 2>&1 </dev/null || maven_failed
}

# Prints the checksums and names of the jars and poms in a repository.
release_sums() { # REPOSITORY
  (cd "$1" && find . \( -name '*.jar' -o -name '*.pom' \) -exec sha256sum {} + | sort -k 2)
}

run_release() { # VERSION
  version=${1-}
  [ $# -le 1 ] || fail "release takes one version, not '$*'." 2
  case $version in
    '' | -h | --help) printf '%s\n' "$release_help" && exit 0 ;;
    *-SNAPSHOT) fail "$version is not a release; leave out -SNAPSHOT." 2 ;;
  esac
  printf '%s\n' "$version" | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?' ||
    fail "'$version' is not a version; use three numbers, such as 0.1.0 or 0.1.0-beta1." 2
  command -v git >/dev/null || fail "there is no git on PATH, and a release is built from a commit; install git."
  commit=$(cd "$root" && git rev-parse HEAD 2>/dev/null) || fail "$root is not a git checkout; a release is built from a commit." 2
  [ -z "$(cd "$root" && git status --porcelain)" ] || fail "commit or stash your changes first; a release is built from a commit." 2
  tagged=$(cd "$root" && git rev-parse -q --verify "v$version^{commit}" || :)
  [ -z "$tagged" ] || [ "$tagged" = "$commit" ] ||
    fail "the tag v$version names another commit, $tagged; choose a version that is not released, or check that commit out." 2
  old_version=$(sed -n 's/^  <version>\(.*\)<\/version>$/\1/p' "$root/pom.xml" | sed q)
  need_maven 'a release is built by Maven'
  find_java javac
  [ -z "${SKEIN_SIGN-}" ] || gpg --batch --list-secret-keys "$SKEIN_SIGN" >/dev/null 2>&1 ||
    fail "gpg has no secret key '$SKEIN_SIGN', or there is no gpg; 'gpg --list-secret-keys' lists the keys that SKEIN_SIGN can name." 2
  # Jars record the permissions of files, and times on the local clock.
  umask 022
  export TZ=UTC
  release=$root/target/release
  rm -rf "$release"
  mkdir -p "$release" "$state"
  progress "building $version"
  release_sources "$release/first" "$version"
  release_build "$release/first" ${SKEIN_SIGN:+-P sign "-Dgpg.keyname=$SKEIN_SIGN"}
  progress "building it again, to compare"
  release_sources "$release/second" "$version"
  release_build "$release/second"
  release_sums "$release/first/target/repository" >"$release/first.sums"
  release_sums "$release/second/target/repository" >"$release/second.sums"
  cmp -s "$release/first.sums" "$release/second.sums" ||
    fail "two builds of one commit differ: $(diff "$release/first.sums" "$release/second.sums" | sed -n 's/^< [0-9a-f]* *//p' | tr '\n' ' ')"
  mv "$release/first/target/repository" "$release/repository"
  rm -rf "$release/first" "$release/second"
  (cd "$release/repository" && find . -name 'maven-metadata*' -delete && "$java_home/bin/jar" --create --no-manifest --file "../skein-$version.zip" .)
  clear_progress
  release_left
}

# Prints what was built, and what is left for a person to do.
release_left() {
  home=$(sed -n 's/.*<skein.home>\(.*\)<\/skein.home>.*/\1/p' "$root/pom.xml")
  group=$(sed -n 's/^  <groupId>\(.*\)<\/groupId>$/\1/p' "$root/pom.xml" | sed q)
  printf '%s\n' "target/release/skein-$version.zip holds $(grep -c '\.jar$' "$release/first.sums") jars; two builds gave the same bytes." '' 'What is left to do:' ''
  case $home in
    *//example.org/*) printf '%s\n' "- set skein.home in pom.xml, now $home, to the URL of the project, and run this again;" ;;
  esac
  [ -n "${SKEIN_SIGN-}" ] || printf '%s\n' '- run this again with SKEIN_SIGN=KEY: a registry requires signatures;'
  printf '%s\n' "- register the group id $group with the registry;" \
    "- replace $old_version by $version in the pom.xml files, README.md, doc/interop.md and cli.clj, and Unreleased by it in CHANGELOG.md;" \
    "- commit that, tag the commit v$version, and push both;" \
    "- upload target/release/skein-$version.zip;" \
    '- set the next -SNAPSHOT version in the same files.'
}
