// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.RT;
import clojure.lang.Symbol;
import clojure.lang.Var;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** Vars of Skein's own namespaces. A namespace is loaded when the first of its vars is requested. */
public final class Late {
    /*
     * Blocks on several threads may request a var first, so a var is returned only when its whole namespace is loaded.
     * In contrast, clojure.core/requiring-resolve may return a var that has no value yet. It also waits for a lock,
     * which a thread may hold that loads the program and waits for the block. The namespaces that are loaded here
     * wait for nobody, so this lock can't be part of a deadlock.
     */
    private static final ReentrantLock LOADING = new ReentrantLock();
    private static final ConcurrentHashMap<Symbol, Var> VARS = new ConcurrentHashMap<>();
    private static final Var REQUIRE = RT.var("clojure.core", "require");

    private Late() {}

    /** Returns the var called {@code name}, a symbol with a namespace. */
    public static Var var(Symbol name) {
        Var v = VARS.get(name);
        return v != null ? v : load(name);
    }

    /**
     * Calls {@code load}, which loads or compiles code at its first use, and returns its result. A simulation does not see
     * this, so that its first run is like the others.
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
