// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.RT;
import clojure.lang.Symbol;
import clojure.lang.Var;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** Vars of Skein's own namespaces, each of which is loaded when the first of its vars is asked for. */
public final class Late {
    /*
     * Blocks on several threads may be the first to ask, so a var is given out when all of its namespace is there.
     * Differs from clojure.core/requiring-resolve, which gives out a var that has no value yet, and waits for a lock
     * that a thread may hold which loads a program and waits for the block. Nothing that is loaded here waits for
     * anybody, so this lock can't be part of a deadlock.
     */
    private static final ReentrantLock LOADING = new ReentrantLock();
    private static final ConcurrentHashMap<Symbol, Var> VARS = new ConcurrentHashMap<>();
    private static final Var REQUIRE = RT.var("clojure.core", "require");

    private Late() {}

    /** The var called {@code name}, a symbol with a namespace. */
    public static Var var(Symbol name) {
        Var v = VARS.get(name);
        return v != null ? v : load(name);
    }

    /**
     * Returns what {@code load} returns, which loads or compiles code at its first use. A simulation sees nothing of that, so
     * that a first run is no other than those after it.
     */
    public static <T> T unseen(Supplier<T> load) {
        World.holds(1);
        try {
            return load.get();
        } finally {
            World.holds(-1);
        }
    }

    private static Var load(Symbol name) {
        LOADING.lock();
        try {
            unseen(() -> REQUIRE.invoke(Symbol.intern(name.getNamespace())));
            Var v = RT.var(name.getNamespace(), name.getName());
            VARS.put(name, v);
            return v;
        } finally {
            LOADING.unlock();
        }
    }
}
