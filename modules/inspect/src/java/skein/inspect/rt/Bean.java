// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import clojure.java.api.Clojure;
import clojure.lang.Keyword;
import clojure.lang.RT;
import clojure.lang.Var;
import java.util.function.Supplier;

/**
 * The bean through which another process inspects this one. The other process creates it by its name, over the JVM's attach
 * mechanism. This process needs no preparation, as long as this class is on its class path.
 */
public final class Bean implements BeanMBean {
    /** Makes the bean. The other process calls this by name. */
    public Bean() {}

    private static Object call(String name, Object... args) {
        return ((Var) Clojure.var("skein.inspect", name)).applyTo(RT.seq(args));
    }

    /** Runs {@code work} with the program's class loader. The JVM's own thread may have one that does not see the program's classes. */
    private static <T> T withOurLoader(Supplier<T> work) {
        Thread thread = Thread.currentThread();
        ClassLoader outer = thread.getContextClassLoader();
        thread.setContextClassLoader(Bean.class.getClassLoader());
        try {
            Clojure.var("clojure.core", "require").invoke(Clojure.read("skein.inspect"));
            return work.get();
        } finally {
            thread.setContextClassLoader(outer);
        }
    }

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public boolean start() {
        return withOurLoader(() -> {
            Object level = call("level");
            call("start!");
            return level == Keyword.intern("off");
        });
    }

    @Override
    public void stop() {
        withOurLoader(() -> call("stop!"));
    }

    @Override
    public byte[] snapshot(boolean prove) {
        return withOurLoader(() -> {
            if (prove) call("deadlocks", RT.map(Keyword.intern("prove"), true));
            return Packing.pack(call("snapshot"));
        });
    }

    @Override
    public void record(boolean on) {
        withOurLoader(
                () -> call("start!", RT.map(Keyword.intern("level"), Keyword.intern(on ? "events" : "registry"))));
    }

    @Override
    public byte[] timeline(long lastMillis) {
        return withOurLoader(() -> Packing.pack(call("timeline", RT.map(Keyword.intern("last-ms"), lastMillis))));
    }
}
