// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import clojure.java.api.Clojure;
import clojure.lang.Keyword;
import clojure.lang.RT;
import clojure.lang.Var;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.zip.GZIPOutputStream;

/**
 * The bean by which another process looks at this one. The other makes it, by its name, over the JVM's own attach
 * mechanism: nothing need have been prepared here, as long as this class is on the class path.
 */
public final class Bean implements BeanMBean {
    /** For those who make it by name. */
    public Bean() {}

    private static Object call(String name, Object... args) {
        return ((Var) Clojure.var("skein.inspect", name)).applyTo(RT.seq(args));
    }

    /** The thread is of the JVM's making, and its loader need not see what the program sees. */
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
        return withOurLoader(() -> RT.intCast(((Var) Clojure.var("skein.inspect.snapshot", "version")).deref()));
    }

    @Override
    public boolean start() {
        return withOurLoader(() -> {
            boolean on = (Boolean) call("on?");
            call("start!");
            return !on;
        });
    }

    @Override
    public void stop() {
        withOurLoader(() -> call("stop!"));
    }

    @Override
    public byte[] snapshot(boolean prove) {
        return packed(out -> {
            if (prove) call("deadlocks", RT.map(Keyword.intern("prove"), true));
            call("dump", out, Keyword.intern("edn"));
        });
    }

    @Override
    public void record(boolean on) {
        withOurLoader(
                () -> call("start!", RT.map(Keyword.intern("level"), Keyword.intern(on ? "events" : "registry"))));
    }

    @Override
    public byte[] timeline(long lastMillis) {
        return packed(out -> Clojure.var("skein.inspect.dump", "write-edn")
                .invoke(out, call("timeline", RT.map(Keyword.intern("last-ms"), lastMillis))));
    }

    private static byte[] packed(Consumer<Writer> write) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        withOurLoader(() -> {
            try (Writer out = new OutputStreamWriter(new GZIPOutputStream(bytes), StandardCharsets.UTF_8)) {
                write.accept(out);
                return null;
            } catch (IOException e) {
                throw new AssertionError(e); // memory does not fail so
            }
        });
        return bytes.toByteArray();
    }

    @Override
    public String places(String wanted) {
        return withOurLoader(() -> (String) Clojure.var("clojure.core", "pr-str")
                .invoke(Clojure.var("skein.inspect.places", "of-classes").invoke(Clojure.read(wanted))));
    }
}
