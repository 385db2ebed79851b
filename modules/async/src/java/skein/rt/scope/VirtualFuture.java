// SPDX-License-Identifier: Apache-2.0
package skein.rt.scope;

import clojure.lang.IFn;
import clojure.lang.IPending;
import clojure.lang.Var;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import skein.rt.Cancellable;
import skein.rt.Failure;
import skein.rt.Region;
import skein.rt.World;
import skein.rt.block.Failures;

/**
 * The future of a function that a virtual thread calls, with the bindings of the code that made it. Cancelling it interrupts
 * that thread. If the function throws and no code ever reads the result, the exception is reported.
 *
 * <p>Apart from this it is a CompletableFuture. Adding a stage counts as reading the result.
 */
public class VirtualFuture extends CompletableFuture<Object> implements IPending, Runnable {
    static {
        Failures.load();
    }

    private IFn function; // written before the thread starts, afterwards by that thread only
    private Object bindings; // likewise; a Var binding frame
    final Region region; // of the call
    private Thread thread; // or null on an executor; written before the future is returned
    private volatile Failure failure; // written before the future completes
    private volatile boolean hasStage; // written before a stage is added

    /** Makes a future that {@link #run} completes, on any thread, with this thread's bindings. */
    public VirtualFuture(IFn function) {
        this(function, Region.child(null));
    }

    VirtualFuture(IFn function, Region region) {
        this.function = function;
        this.region = region;
        this.bindings = Var.cloneThreadBindingFrame();
    }

    /** Starts a virtual thread that calls {@code function}. */
    public static VirtualFuture start(IFn function) {
        VirtualFuture future = new VirtualFuture(function);
        future.start("skein-future-" + future.region.number());
        return future;
    }

    final void start(String name) {
        World.allowsThreads();
        thread = Thread.ofVirtual().name(name).unstarted(this);
        thread.start();
    }

    /** Returns the virtual thread that was started for it, which ends soon after the call, or null. */
    public final Thread thread() {
        return thread;
    }

    /** Calls the function, unless the future has been cancelled. */
    @Override
    public void run() {
        IFn f = function;
        Object mine = bindings;
        function = null;
        bindings = null;
        Cancellable child = region.cancellable();
        if (!child.enter()) super.cancel(false);
        else if (!isDone()) call(f, mine);
        child.exit();
    }

    private void call(IFn f, Object mine) {
        Object outer = Var.getThreadBindingFrame();
        Var.resetThreadBindingFrame(mine);
        try {
            finish(f.invoke());
        } catch (Throwable t) { // an exception of the function is the future's result
            fail(t);
            if (!region.isCancelled()) Cancellable.restoreInterrupt(t); // for the owner of the thread, such as a pool
        } finally {
            Var.resetThreadBindingFrame(outer);
        }
    }

    /** Returns whether it has a result or an exception, or has been cancelled. */
    @Override
    public boolean isRealized() {
        return isDone();
    }

    /** Returns the thread that calls the function now, or null. */
    public final Thread runner() {
        return (Thread) region.cancellable().party();
    }

    boolean finish(Object value) {
        return complete(value);
    }

    void fail(Throwable thrown) {
        if (isDone()) return; // cancelled: nobody waits for the function's end
        try {
            if (!hasStage) {
                failure = Failure.of(thrown);
                if (hasStage) observe(); // a stage was added meanwhile, and did not see the failure
            }
        } finally { // whatever happens, code may wait for the end
            if (!completeExceptionally(thrown)) observe(); // it has just been cancelled
        }
    }

    /** Cancels the future, and the call if {@code mayInterrupt}. */
    @Override
    public boolean cancel(boolean mayInterrupt) {
        boolean cancelled = super.cancel(mayInterrupt);
        if (cancelled && mayInterrupt) region.cancel();
        return cancelled;
    }

    final void observe() {
        Failure f = failure;
        if (f != null) f.take();
    }

    @Override
    public Object get() throws InterruptedException, ExecutionException {
        try {
            return super.get();
        } finally {
            observe();
        }
    }

    @Override
    public Object get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return super.get(timeout, unit);
        } finally {
            observe();
        }
    }

    @Override
    public Object join() {
        try {
            return super.join();
        } finally {
            observe();
        }
    }

    @Override
    public Object getNow(Object absent) {
        observe();
        return super.getNow(absent);
    }

    @Override
    public Object resultNow() {
        observe();
        return super.resultNow();
    }

    @Override
    public Throwable exceptionNow() {
        observe();
        return super.exceptionNow();
    }

    @Override
    public boolean isCompletedExceptionally() {
        observe();
        return super.isCompletedExceptionally();
    }

    /** Called by all methods that add a stage to this one. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        hasStage = true;
        observe();
        return new CompletableFuture<>();
    }
}
