// SPDX-License-Identifier: Apache-2.0
package skein.spark.rt;

import clojure.lang.IFn;
import clojure.lang.RT;
import clojure.lang.Symbol;

/** The Clojure side of this package. */
final class Names {
    private static final Object LOAD = new Object();

    private Names() {}

    /**
     * Returns the var of this full name, its namespace loaded. One thread at a time, because Clojure shows others a var
     * before it has a value; and with this class's loader, because a task's thread may have one that knows no Clojure.
     */
    static IFn var(String name) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        synchronized (LOAD) {
            thread.setContextClassLoader(Names.class.getClassLoader());
            try {
                return (IFn) RT.var("clojure.core", "requiring-resolve").invoke(Symbol.intern(name));
            } finally {
                thread.setContextClassLoader(before);
            }
        }
    }
}
