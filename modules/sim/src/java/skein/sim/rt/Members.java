// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import clojure.lang.Agent;
import clojure.lang.IDeref;
import clojure.lang.IFn;
import java.lang.Thread.UncaughtExceptionHandler;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import skein.rt.Channel;
import skein.rt.World;
import skein.rt.block.Callback;

/** What Clojure and the JVM do differently for members of a simulation. */
public final class Members {
    private static ExecutorService pooled; // of agents, while they are replaced; guarded by the class
    private static ExecutorService solo;
    private static UncaughtExceptionHandler handler;

    private Members() {}

    /** From now on futures and agents of members run in their simulation, and their uncaught exceptions fail it. */
    public static synchronized void install() {
        pooled = Agent.pooledExecutor;
        solo = Agent.soloExecutor;
        handler = Thread.getDefaultUncaughtExceptionHandler();
        Agent.pooledExecutor = new Joining(pooled);
        Agent.soloExecutor = new Joining(solo);
        UncaughtExceptionHandler others = handler;
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {
            if (World.current() instanceof Simulation sim) sim.uncaught(thrown);
            else if (others != null) others.uncaughtException(thread, thrown);
            else thrown.printStackTrace();
        });
    }

    /** Undoes {@link #install}. */
    public static synchronized void uninstall() {
        Agent.pooledExecutor = pooled;
        Agent.soloExecutor = solo;
        Thread.setDefaultUncaughtExceptionHandler(handler);
    }

    /** Runs tasks of members on threads of their simulation, and passes other tasks on. */
    private static final class Joining extends AbstractExecutorService {
        private final ExecutorService others;

        Joining(ExecutorService others) {
            this.others = others;
        }

        @Override
        public void execute(Runnable task) {
            if (!World.starts(task)) others.execute(task);
        }

        @Override
        public void shutdown() {
            others.shutdown();
        }

        @Override
        public List<Runnable> shutdownNow() {
            return others.shutdownNow();
        }

        @Override
        public boolean isShutdown() {
            return others.isShutdown();
        }

        @Override
        public boolean isTerminated() {
            return others.isTerminated();
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
            return others.awaitTermination(timeout, unit);
        }
    }

    /**
     * Like {@code (deref ref millis absent)}, on the clock of {@code sim}. The argument {@code deref} is Clojure's
     * function.
     */
    public static Object deref(Simulation sim, Object ref, long millis, Object absent, IFn deref) throws Exception {
        CompletableFuture<Object> result = new CompletableFuture<>();
        Channel timeout = Callback.after(millis, new clojure.lang.AFn() {
            @Override
            public Object invoke(Object closed) {
                return result.complete(absent);
            }
        });
        Thread[] waiter = new Thread[1];
        World.starts(() -> {
            waiter[0] = Thread.currentThread();
            try {
                result.complete(ref instanceof IDeref d ? d.deref() : deref.invoke(ref));
            } catch (Throwable t) { // the result of the future
                result.completeExceptionally(t);
            }
        });
        try {
            return result.get();
        } catch (java.util.concurrent.ExecutionException e) {
            if (e.getCause() instanceof Exception x) throw x;
            throw e;
        } finally {
            timeout.close();
            if (waiter[0] != null) waiter[0].interrupt();
        }
    }
}
