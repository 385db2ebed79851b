// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.RT;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The engine's own threads, on which helpers run unless the caller gives a pool. There are as many as the machine has processors, or
 * as the most demanding fold has asked for. They start when they are needed and end after some time without work.
 */
final class Crew extends ThreadPoolExecutor {
    /** The number of processors when the engine was loaded; reading it costs more than a small fold. */
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    /** How long a thread without work stays alive. */
    static final long KEEP_MILLIS = 20_000;

    private static final int MAX_THREADS = 256;
    static final Crew OWN = new Crew(PROCESSORS, KEEP_MILLIS);

    /** The newest task first, since the outer fold waits for a nested one. */
    private static final class Stack extends LinkedBlockingDeque<Runnable> {
        private static final long serialVersionUID = 1;

        @Override
        public boolean offer(Runnable task) {
            return offerFirst(task);
        }
    }

    Crew(int threads, long keepMillis) {
        super(threads, MAX_THREADS, keepMillis, TimeUnit.MILLISECONDS, new Stack(), threads("skein-fold-"));
        allowCoreThreadTimeOut(true);
    }

    /** Makes room for {@code n} helpers of one fold. */
    synchronized void reserve(int n) {
        if (n > getCorePoolSize()) setCorePoolSize(Math.min(n, MAX_THREADS));
    }

    /** Returns a factory of daemon threads, which are named {@code prefix} and a number. */
    private static ThreadFactory threads(String prefix) {
        ThreadFactory factory = Thread.ofPlatform()
                .name(prefix, 1)
                .daemon()
                .inheritInheritableThreadLocals(false)
                .factory();
        return work -> {
            Thread thread = factory.newThread(work);
            // Not the class loader of the thread that folded first.
            thread.setContextClassLoader(RT.class.getClassLoader());
            return thread;
        };
    }
}
