// SPDX-License-Identifier: Apache-2.0
package skein.rt.scope;

import clojure.lang.IFn;
import java.util.concurrent.CancellationException;

/** The future of a child of a scope, which a virtual thread runs. Cancelling it cancels its region. */
public final class Fork extends VirtualFuture {
    private final Region region;
    private Thread thread; // written before the fork is returned
    private Object value; // used only by the child's thread
    private Throwable thrown; // likewise

    private Fork(IFn function, Region region) {
        super(function);
        this.region = region;
    }

    /** Starts a virtual thread that calls {@code function}, as the child with this region. */
    public static Fork start(IFn function, Region region) {
        Fork fork = new Fork(function, region);
        fork.thread = fork.start();
        return fork;
    }

    /** Returns the thread, which ends soon after the child has ended. */
    public Thread thread() {
        return thread;
    }

    @Override
    public void run() {
        Cancellable child = region.cancellable();
        if (child.enter()) super.run();
        else super.cancel(false);
        child.exit();
        if (isCancelled() && thrown == null) thrown = new CancellationException("The fork was cancelled.");
        child.ended(value, thrown, this::observe);
    }

    @Override
    boolean finish(Object result) {
        value = result;
        return super.finish(result);
    }

    @Override
    void fail(Throwable t) {
        thrown = t;
        boolean scopeThrows = region.cancellable().failed(t);
        if (region.isCancelled() && Region.isInterruption(t)) super.cancel(false);
        else super.fail(t);
        if (scopeThrows) observe();
    }

    @Override
    public boolean cancel(boolean mayInterrupt) {
        boolean cancelled = super.cancel(false);
        if (cancelled && mayInterrupt) region.cancel();
        return cancelled;
    }
}
