// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import clojure.lang.IFn;
import clojure.lang.RT;
import clojure.lang.Var;
import skein.rt.Channel;
import skein.rt.Region;
import skein.rt.Runner;
import skein.rt.Uncaught;
import skein.rt.Waiter;
import skein.rt.World;
import skein.rt.schedule.Scheduler;
import skein.rt.schedule.Timeout;

/** The waiter behind {@code put!}, {@code take!} and {@code do-alts}: a function of the result. */
public final class Callback extends Waiter implements Runnable {
    static {
        // Callbacks nested in each other may overflow the stack. A class that is first used at that depth stays
        // unusable.
        Scheduler.workers();
        World.current();
        Failures.load();
        Uncaught.last();
        Region.startsChildren();
    }

    private final IFn function; // null: the result is ignored
    private final boolean onCaller;

    /**
     * @param function called with the result, or null
     * @param onCaller whether it runs at once on the thread that completes the operation, rather than on a worker
     */
    public Callback(IFn function, boolean onCaller) {
        this.function = function;
        this.onCaller = onCaller;
    }

    /** Starts a timeout. When it fires or is closed, calls {@code action} with one argument. Returns the timeout's channel. */
    public static Channel after(long millis, IFn action) {
        Channel channel = Timeout.after(millis);
        boolean over =
                channel.take(new Callback(action, true), null) != Channel.NONE; // it may have fired before the take
        if (over) action.invoke(null);
        return channel;
    }

    /** Returns the function, or null. For inspection. */
    public IFn function() {
        return function;
    }

    /** Returns a task for {@link Scheduler#submit} whose exceptions go to the uncaught-exception handler. */
    public static Runnable task(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (Throwable t) {
                Uncaught.report(t);
            }
        };
    }

    @Override
    protected void complete(Object result, Runner runner) {
        value = null;
        if (function == null) return;
        value = result;
        if (!onCaller) Scheduler.submit(this);
        else if (Region.startsChildren()) runOutsideOfScope();
        else run();
    }

    /** Runs it if a scope is bound on this thread: blocks that the function starts must not join that scope. */
    private void runOutsideOfScope() {
        Var.pushThreadBindings(RT.map(Region.CHILD, null));
        try {
            run();
        } finally {
            Var.popThreadBindings();
        }
    }

    /** Calls the function. Its exception must not reach the other side of the operation. */
    @Override
    public void run() {
        try {
            function.invoke(value);
        } catch (Throwable t) {
            Uncaught.report(t);
        }
    }
}
