# SPDX-License-Identifier: Apache-2.0
#
# Builds what is missing or stale, for the launcher ../../skein, which reads this file: Java classes and
# class paths (build.clj), the applications' jars (app.clj), and their start-up caches.
#
# Class paths are in target/classpath, for the whole and in each module. In target/skein are stamps,
# build.log, lock, and a folder for each application: stamp, sources, class-path, app.jar, lib/ and cache/
# (one start-up cache for each JDK).

# --- What is fresh ---------------------------------------------------------------

# Sets class_path to that of MODULE, which is . for the whole. Returns false if something is missing.
read_class_path() { # MODULE runtime|test|provided
  class_path=
  [ -r "$root/$1/target/classpath/$2" ] || return 1
  IFS= read -r entries <"$root/$1/target/classpath/$2" || [ -n "$entries" ] || return 1
  IFS=:
  for entry in $entries; do
    case $entry in /*) ;; *) entry=$root/$entry ;; esac
    [ -e "$entry" ] || { unset IFS; return 1; }
    class_path=$class_path:$entry
  done
  unset IFS
  class_path=${class_path#:}
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
  set +f
  set -- "$root"/*/*/deps.edn "$root"/*/*/src/java "$root"/*/*/test/java
  set -f
  fresh "$state/base.stamp" "$root/deps.edn" "$root/tools/build" "$@"
}

module_fresh() { # MODULE runtime|test|provided
  base_fresh && { [ "$1" != modules/spark ] || fresh "$state/spark.stamp" "$state/base.stamp"; } && read_class_path "$@"
}

app_fresh() {
  [ -f "$state/$app/app.jar" ] || return 1
  set -- "$root/skein" "$root/tools/build" "$root/deps.edn"
  while IFS= read -r source; do set -- "$@" "$root/$source"; done <"$state/$app/sources"
  fresh "$state/$app/stamp" "$@"
}

# --- The lock --------------------------------------------------------------------

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

# If several processes see that the owner is dead, one of them removes the lock, and only if the owner is
# still the same.
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

# --- Building --------------------------------------------------------------------

# Sets class_path to that of tools.build, which Maven fetches. All else is fetched by tools.build itself.
find_tools() {
  find_java javac
  ! read_class_path . tools || ! fresh "$root/target/classpath/tools" "$root/tools/build/deps.edn" || return 0
  command -v mvn >/dev/null 2>&1 ||
    fail "the project must be built, and there is no Maven (mvn) on PATH; install Maven 3.8 or newer (Debian: apt install maven, macOS: brew install maven)."
  version=$(sed -n 's/.*tools.build {:mvn\/version "\([^"]*\)".*/\1/p' "$root/tools/build/deps.edn")
  printf '<project><modelVersion>4.0.0</modelVersion><groupId>skein</groupId><artifactId>tools</artifactId><version>1</version><dependencies>
<dependency><groupId>io.github.clojure</groupId><artifactId>tools.build</artifactId><version>%s</version></dependency>
</dependencies></project>' "$version" >"$state/pom.xml"
  (cd "$root" && JAVA_HOME=$java_home mvn -q -B -f "$state/pom.xml" \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath "-Dmdep.outputFile=$root/target/classpath/tools") \
    >"$log" 2>&1 </dev/null ||
    fail "Maven could not fetch tools.build, which builds the project: $(sed -n 's/^\[ERROR\] *//p' "$log" | sed q). Its log: $log"
  read_class_path . tools || fail "Maven left no class path. Its log: $log"
}

run_build() { # ARGS of build.clj...
  find_tools
  (cd "$root" && exec "$java_home/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$class_path:tools/build" clojure.main -m build "$@") >"$log" 2>&1 </dev/null ||
    fail "the build failed: $(sed -n '$s/^skein: //p' "$log"). Its log: $log"
}

# Compiles Java and writes down class paths. Spark is large, so its module is built on request only.
build_module() { # MODULE runtime|test|provided
  find_java javac
  if [ "$1" != modules/spark ] || ! base_fresh; then
    progress "building with JDK $java_version (the first build fetches Clojure and other libraries)"
    : >"$state/base.new"
    run_build all modules/spark
    mv "$state/base.new" "$state/base.stamp"
  fi
  if [ "$1" = modules/spark ]; then
    progress 'building spark (the first build fetches Spark)'
    : >"$state/spark.new"
    run_build module modules/spark
    mv "$state/spark.new" "$state/spark.stamp"
  fi
  module_fresh "$@" || fail "the build left no class path, or sources changed meanwhile. Its log: $log"
}

# Compiles all namespaces of the application's modules.
build_app() { # MODULE...
  progress 'compiling the application'
  rm -rf "$state/$app.new"
  mkdir -p "$state/$app.new"
  : >"$state/$app.new/stamp"
  (cd "$root" && exec "$java_home/bin/java" -Dclojure.main.report=stderr -cp "$class_path:$root/tools/build" \
    clojure.main -m app "$state/$app.new" "$@") >"$log" 2>&1 </dev/null ||
    fail "the application did not compile: $(sed -n '1,2p' "$log" | tr '\n' ' '). Its log: $log"
  rm -rf "$state/$app"
  mv "$state/$app.new" "$state/$app"
}

# Sets class_path to that of MODULE, which it builds if something is stale. Without arguments it is that of
# all modules but core-async and spark.
find_class_path() { # [MODULE runtime|test|provided]
  [ $# -gt 0 ] || set -- . runtime
  module_fresh "$@" || {
    lock
    module_fresh "$@" || build_module "$@"
    unlock
  }
  find_java java
}

# Makes an application ready to run: its jar is fresh, and there is a start-up cache. The class path of its
# first module is its own.
ensure_app() { # NAME MODULE...
  app=$1
  shift
  find_java java
  app_fresh || {
    lock
    app_fresh || {
      module_fresh "$1" runtime || build_module "$1" runtime
      find_java java
      build_app "$@"
    }
    unlock
  }
  app_class_path=
  while IFS= read -r entry; do app_class_path=$app_class_path:$state/$app/$entry; done <"$state/$app/class-path"
  app_class_path=${app_class_path#:}
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
