# SPDX-License-Identifier: Apache-2.0
#
# Finds a JDK, for the launcher ../../skein, which reads this file.

min_java=21

# Sets java_version and java_major to those of the JDK in FOLDER. Returns false if there is none.
read_java_version() { # FOLDER
  [ -x "$1/bin/java" ] || return 1
  java_version=
  if [ -r "$1/release" ]; then
    while IFS='=' read -r key value; do
      [ "$key" = JAVA_VERSION ] || continue
      value=${value#\"}
      java_version=${value%%\"*}
      break
    done <"$1/release"
  fi
  [ -n "$java_version" ] || java_version=$("$1/bin/java" -version 2>&1 |
    sed -n '/ version "/ { s/.* version "\([^"]*\)".*/\1/p; q; }')
  java_major=${java_version#1.}
  java_major=${java_major%%[!0-9]*}
  [ -n "$java_major" ]
}

# Takes FOLDER as java_home if it has the needed program and is newer than the best so far.
consider_java() { # FOLDER
  read_java_version "$1" || return 0
  seen_java="$seen_java$java_version $1$newline"
  if [ "$java_major" -gt "$best_java" ] && [ -x "$1/bin/$needed" ]; then
    java_home=$1 best_java=$java_major
  fi
}

consider_java_on_path() {
  IFS=:
  for folder in $PATH; do
    [ -z "$java_home" ] && [ -x "$folder/java" ] || continue
    program=$(readlink -f "$folder/java" 2>/dev/null) || program=$folder/java
    # The program in /usr/bin itself is no JDK: on macOS it asks to install one.
    [ "$program" = /usr/bin/java ] || consider_java "${program%/bin/java}"
  done
  unset IFS
}

consider_java_folders() {
  usual=/usr/lib/jvm:/usr/lib64/jvm:/usr/java:/usr/local/java:/opt:/opt/java
  usual=$usual:/Library/Java/JavaVirtualMachines:/opt/homebrew/opt:/usr/local/opt
  usual=$usual:${HOME-}/.sdkman/candidates/java:${HOME-}/.jdks
  usual=$usual:${HOME-}/Library/Java/JavaVirtualMachines
  IFS=:
  for folder in ${SKEIN_JDK_DIRS-$usual}; do
    set +f
    for home in "$folder"/* "$folder"/*/Contents/Home "$folder"/*/libexec/openjdk.jdk/Contents/Home; do
      consider_java "$home"
    done
    set -f
  done
  unset IFS
}

check_named_java() {
  [ -x "$SKEIN_JAVA_HOME/bin/java" ] ||
    fail "SKEIN_JAVA_HOME is $SKEIN_JAVA_HOME, but there is no bin/java in it; name a JDK's folder, or unset it, so that ./skein looks for one."
  read_java_version "$SKEIN_JAVA_HOME" && [ "$java_major" -ge "$min_java" ] ||
    fail "SKEIN_JAVA_HOME is Java ${java_version:-of an unknown version} ($SKEIN_JAVA_HOME), but Skein needs $min_java or newer; name such a JDK's folder, or unset it, so that ./skein looks for one."
}

# Prints the JDKs that were found, each once, because several names often lead to one folder.
seen_java_text() {
  printf '%s' "$seen_java" | while read -r version folder; do
    printf '%s in %s\n' "$version" "$(cd -P "$folder" && pwd)"
  done | sort -u | sed -e ':a' -e '$!N' -e 's/\n/, /' -e 'ta'
}

# Sets java_home to a JDK that has PROGRAM: the first suitable one of SKEIN_JAVA_HOME,
# JAVA_HOME and PATH, else the newest of the usual folders.
find_java() { # java|javac
  needed=$1 java_home='' seen_java='' best_java=$((min_java - 1))
  if [ -n "${SKEIN_JAVA_HOME-}" ]; then
    check_named_java
    consider_java "$SKEIN_JAVA_HOME"
  fi
  [ -n "$java_home" ] || [ -z "${JAVA_HOME-}" ] || consider_java "$JAVA_HOME"
  [ -n "$java_home" ] || consider_java_on_path
  [ -n "$java_home" ] || consider_java_folders
  if [ -n "$java_home" ]; then
    case $java_home in /*) ;; *) java_home=$PWD/$java_home ;; esac
    read_java_version "$java_home"
    return
  fi
  what="a JDK of version $min_java or newer"
  [ "$needed" = java ] || what="$what with javac, to build"
  found=$(seen_java_text)
  fail "needs $what, but found ${found:-no Java at all}. Install one, such as OpenJDK 25 (Debian: apt install openjdk-25-jdk, macOS: brew install openjdk, else: https://adoptium.net), or set SKEIN_JAVA_HOME."
}
