// SPDX-License-Identifier: Apache-2.0
package skein.rt.scope;

import clojure.lang.IFn;
import java.util.concurrent.Executor;
import skein.rt.Cancellable;
import skein.rt.Region;
import skein.rt.Uncaught;
import skein.rt.World;

/** Runs work on a thread of an executor as the child of a scope. */
public final class Child implements Runnable {
    private final IFn work;
    private final IFn unbegun;
    private final Region region;

    private Child(IFn work, IFn unbegun, Region region) {
        this.work = work;
        this.unbegun = unbegun;
        this.region = region;
    }

    /**
     * Runs work on {@code executor}, or on a thread of this thread's simulation. If {@link Region#CHILD} is bound, the work
     * is a child of that scope.
     *
     * @param work function of no argument; its value is the child's
     * @param unbegun called with an exception instead of {@code work} if the child was cancelled before it began
     */
    public static void start(IFn work, IFn unbegun, Executor executor) {
        Region region = Region.childHere();
        if (region == null) {
            if (!World.starts(work)) executor.execute(work);
            return;
        }
        Child child = new Child(work, unbegun, region);
        try {
            if (!World.starts(child)) executor.execute(child);
        } catch (Throwable t) { // refused, or no memory for a thread: the scope must not wait for it
            region.cancellable().ended(null, t, null);
            throw t;
        }
    }

    /** Returns the exception for the result of the child on this thread, which has thrown; see {@link Region.Owner#cause}. */
    public static Throwable cause(Throwable thrown) {
        return Cancellable.current().cause(thrown);
    }

    @Override
    public void run() {
        Cancellable child = region.cancellable();
        Object value = null;
        Throwable thrown = null;
        try {
            if (child.enter()) {
                value = work.invoke();
            } else {
                thrown = child.cancellation();
                unbegun.invoke(thrown);
            }
        } catch (Throwable t) { // an exception of the work goes to the scope
            thrown = t;
            if (!child.failed(t)) Uncaught.report(t);
        }
        child.exit();
        child.ended(value, thrown, null);
    }
}
