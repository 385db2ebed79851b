# SPDX-License-Identifier: Apache-2.0
#
# Builds what is missing or stale, for the launcher ../../skein, which reads this file: Maven's
# part, the applications' jars, and their start-up caches.
#
# Its output is in target/skein: stamps (base: Maven's part; one for each lane), build.log, lock, and a folder for each
# application: stamp, app.jar, lib/ (the libraries that the jar needs, because its user may not be allowed to read the
# builder's repository), cache/ (one start-up cache for each JDK).

app= # the application, if one is needed

# --- Modules, class paths and stamps ---------------------------------------------

# Sets modules to the folders that pom.xml lists, such as modules/fold: the one list there is.
list_modules() {
  modules=
  while IFS= read -r line; do
    case $line in
      *'<module>'*)
        line=${line#*<module>}
        modules="$modules ${line%%</module>*}"
        ;;
      *'</modules>'*) return ;;
    esac
  done <"$root/pom.xml"
}

# Sets lanes to the modules that pom.xml has in profiles of their names. They are built on request only.
list_lanes() {
  lanes= profiles=
  while IFS= read -r line; do
    case $line in
      *'<profiles>'*) profiles=yes ;;
      *'</profiles>'*) return ;;
      *'<module>'*)
        line=${line#*<module>}
        [ -z "$profiles" ] || lanes="$lanes ${line%%</module>*}"
        ;;
    esac
  done <"$root/pom.xml"
}

add_module() { # FOLDER
  class_path=$class_path:$1/src/clojure
  [ ! -d "$1/src/resources" ] || class_path=$class_path:$1/src/resources # for clj-kondo, which searches class paths
  class_path=$class_path:$1/target/classes
  sources=$sources$newline$1/src$newline$1/pom.xml
}

# Sets class_path to that of MODULE, jars to the libraries in it, and sources to the folders and files that it is
# built from. Returns false if something is missing. Clojure sources are used without a build.
read_class_path() { # MODULE runtime|test|provided
  class_path= jars= sources=
  [ -r "$root/$1/target/classpath/$2" ] || return 1
  IFS= read -r entries <"$root/$1/target/classpath/$2" || [ -n "$entries" ] || return 1
  add_module "$root/$1"
  [ "$2" != test ] ||
    class_path=$class_path:$root/$1/test/clojure:$root/$1/target/test-classes:$root/tools/testing
  IFS=:
  for entry in $entries; do
    case $entry in
      "$root"/*/target/classes) add_module "${entry%/target/classes}" ;;
      *)
        [ -f "$entry" ] || entry=$state/$app/lib/${entry##*/}
        [ -f "$entry" ] || { unset IFS; return 1; }
        jars=$jars:$entry
        ;;
    esac
  done
  unset IFS
  jars=${jars#:}
  class_path=${class_path#:}:$jars
}

# A folder's time changes with its entries, so a deleted file makes a stamp stale too.
fresh() { # STAMP PATH...
  [ -f "$1" ] || return 1
  stamp=$1
  shift
  [ -z "$(find "$@" -newer "$stamp" 2>/dev/null)" ]
}

# Clojure sources don't count here, because they are used without a build.
base_fresh() {
  list_modules
  set -- "$root/pom.xml"
  for built in $modules; do
    read_class_path "$built" runtime && read_class_path "$built" test || return 1
    set -- "$@" "$root/$built/pom.xml" "$root/$built/src/java" "$root/$built/test/java"
  done
  fresh "$state/base.stamp" "$@"
}

lane_fresh() { # MODULE
  read_class_path "$1" test &&
    fresh "$state/${1##*/}.stamp" "$root/pom.xml" "$root/$1/pom.xml" "$root/$1/src/java" "$root/$1/test/java" "$state/base.stamp"
}

app_fresh() {
  read_class_path "${app_modules%% *}" runtime && [ -f "$state/$app/app.jar" ] || return 1
  IFS=$newline
  set -- "$root/pom.xml" "$root/tools/build" "$root/skein" $sources
  unset IFS
  fresh "$state/$app/stamp" "$@"
}

# --- Building --------------------------------------------------------------------

alive() { # PROCESS-ID
  kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ] || ps -p "$1" >/dev/null 2>&1
}

# The lock is a symbolic link to its owner's process id, so lock and owner are written atomically.
lock() {
  mkdir -p "$state" 2>/dev/null && [ -w "$state" ] ||
    fail "$root can't be written, but the project is not built, has changed since it was built, or has its jars in a folder that you can't read. Copy the project, or run the same command once as a user who may write there."
  tries=0
  until ln -s "$$" "$state/lock" 2>/dev/null; do
    owner=$(readlink "$state/lock")
    if [ -n "$owner" ] && ! alive "$owner"; then
      steal_lock "$owner"
    else
      tries=$((tries + 1))
      [ "$tries" -lt 900 ] ||
        fail "waited 15 minutes for the build of process ${owner:-?}; if there is no such build, remove $state/lock and $state/lock.steal."
      progress "waiting for the build of process ${owner:-?}"
      sleep 1
    fi
  done
  trap unlock EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# If several processes see that the owner is dead, one of them removes the lock, and only if the owner is still the same.
steal_lock() { # OWNER
  if mkdir "$state/lock.steal" 2>/dev/null; then
    [ "$(readlink "$state/lock")" != "$1" ] || rm -f "$state/lock"
    rmdir "$state/lock.steal"
  else
    sleep 1
  fi
}

unlock() {
  trap - EXIT HUP INT TERM
  rm -f "$state/lock"
  clear_progress
}

# Prints the first artifact that Maven could not fetch, if any.
unfetched() {
  sed -n -e 's/.*Could not transfer artifact \([^ ]*\) from.*/\1/p' \
    -e 's/.*Could not find artifact \([^ ]*\) in .*/\1/p' \
    -e 's/.*offline mode and the artifact \([^ ]*\) has.*/\1/p' "$log" | sed q
}

maven_failed() {
  artifact=$(unfetched)
  [ -z "$artifact" ] ||
    fail "the first build needs the network: Maven could not fetch $artifact. Its log: $log"
  error=$(sed -n 's/^\[ERROR\] *//p' "$log" | grep -v -e '^COMPILATION ERROR' -e '^-*$' | sed q)
  fail "the build failed: ${error:-Maven gave no reason}. Its log: $log"
}

need_maven() { # WHY
  command -v mvn >/dev/null 2>&1 ||
    fail "$1, and there is no Maven (mvn) on PATH; install Maven 3.8 or newer (Debian: apt install maven, macOS: brew install maven)."
}

# Maven runs on the same JDK, so the pom's toolchain accepts it wherever it is installed.
build_base() {
  need_maven 'the project must be built'
  find_java javac
  progress "building with JDK $java_version (the first build fetches Clojure and Maven's plugins)"
  : >"$state/base.new"
  list_modules
  for built in $modules; do
    rm -rf "$root/$built/target/classes" "$root/$built/target/test-classes" "$root/$built/target/maven-status"
  done
  (cd "$root" && JAVA_HOME=$java_home mvn -q -B -Dmaven.resources.skip=true test-compile) \
    >"$log" 2>&1 </dev/null || maven_failed
  mv "$state/base.new" "$state/base.stamp"
  base_fresh || fail "the build left no class path, or sources changed meanwhile. Its log: $log"
}

# Builds a module that has a profile of its own. The others must be built.
build_lane() { # MODULE
  progress "building ${1##*/} (the first build fetches what it needs)"
  : >"$state/${1##*/}.new"
  rm -rf "$root/$1/target/classes" "$root/$1/target/test-classes" "$root/$1/target/maven-status"
  (cd "$root" && JAVA_HOME=$java_home mvn -q -B -Dmaven.resources.skip=true -P "${1##*/}" -pl "$1" -am test-compile) \
    >"$log" 2>&1 </dev/null || maven_failed
  mv "$state/${1##*/}.new" "$state/${1##*/}.stamp"
  lane_fresh "$1" || fail "the build left no class path, or sources changed meanwhile. Its log: $log"
}

# Compiles all namespaces of the application's modules.
build_app() {
  progress 'compiling the application'
  read_class_path "${app_modules%% *}" runtime || fail "the build left no class path. Its log: $log"
  rm -rf "$state/$app.new"
  mkdir -p "$state/$app.new/lib"
  : >"$state/$app.new/stamp"
  "$java_home/bin/java" -Dclojure.main.report=stderr -cp "$class_path" \
    clojure.main "$root/tools/build/app.clj" "$state/$app.new" $app_modules >"$log" 2>&1 </dev/null ||
    fail "the application did not compile: $(sed -n '1,2p' "$log" | tr '\n' ' '). Its log: $log"
  IFS=:
  cp $jars "$state/$app.new/lib"
  unset IFS
  rm -rf "$state/$app"
  mv "$state/$app.new" "$state/$app"
}

# Builds Maven's part if it is stale: Java classes and class paths.
ensure_base() {
  base_fresh || {
    lock
    base_fresh || build_base
    unlock
  }
  find_java java
}

ensure_lane() { # MODULE
  ensure_base
  lane_fresh "$1" || {
    lock
    find_java javac
    lane_fresh "$1" || build_lane "$1"
    unlock
  }
  find_java java
}

# Makes an application ready to run: its jar is fresh, and there is a start-up cache. The class path of its first module is its own.
ensure_app() { # NAME MODULE...
  app=$1
  shift
  app_modules=$*
  find_java java
  app_fresh || {
    lock
    base_fresh || build_base
    find_java java
    app_fresh || build_app
    unlock
  }
  read_class_path "$1" runtime
  # Clojure's jar comes first: while Clojure starts it looks for its own parts, and opening one jar is quicker than opening two.
  app_class_path=
  IFS=:
  for jar in $jars; do
    case $jar in
      */clojure-*) app_class_path=$state/$app/lib/${jar##*/}:$state/$app/app.jar$app_class_path ;;
      *) app_class_path=$app_class_path:$state/$app/lib/${jar##*/} ;;
    esac
  done
  unset IFS
  ensure_cache
}

# --- The start-up cache ----------------------------------------------------------

# These run the JVM command "$@" on typical work, to train the start-up caches of the applications.

train_wf() {
  "$java" -cp "$app_class_path" skein.base.Launch skein.cli sample-log 120M --seed 3 --force -o "$cache.log" &&
    "$@" skein.base.Launch skein.cli.training "$cache.log" "$root/examples/shop.log" ||
    "$@" skein.base.Launch skein.cli wf "$root/examples/access.log"
  rm -f "$cache.log"
}

# The command shows its own process.
train_inspect() {
  sh -c 'exec "$@" -Djdk.attach.allowAttachSelf=true skein.base.Launch skein.inspect.cli top $$ 1' sh "$@"
}

# Makes the file $cache. If that fails, the file stays empty, so that later starts don't try again.
make_cache() {
  progress "preparing a fast start with Java $java_version"
  java=$java_home/bin/java
  if [ "$java_major" -ge 25 ]; then
    "train_$app" "$java" $app_flags -XX:AOTCacheOutput="$cache.new" -cp "$app_class_path"
  else
    "train_$app" "$java" $app_flags -XX:DumpLoadedClassList="$cache.list" -cp "$app_class_path"
    "$java" $app_flags -Xshare:dump -XX:SharedClassListFile="$cache.list" \
      -XX:SharedArchiveFile="$cache.new" -cp "$app_class_path"
  fi >"$log" 2>&1 </dev/null
  [ -f "$cache.new" ] || : >"$cache.new"
  mv "$cache.new" "$cache"
  rm -f "$cache.list"
}

# Sets cache_flag, or leaves it empty. Without a cache only the start is slower.
# The file's name holds the JDK's version and place; the JVM itself checks the rest.
ensure_cache() {
  IFS=/
  set -- $java_home
  IFS=-
  cache=$state/$app/cache/$java_version$*
  unset IFS
  cache_flag=
  if [ ! -f "$cache" ] && [ -w "$state" ] && mkdir -p "$state/$app/cache" 2>/dev/null && [ -w "$state/$app/cache" ]; then
    lock
    [ -f "$cache" ] || make_cache
    unlock
  fi
  [ -s "$cache" ] || return 0
  cache_flag=-XX:SharedArchiveFile=$cache
  [ "$java_major" -lt 25 ] || cache_flag=-XX:AOTCache=$cache
}
