// SPDX-License-Identifier: Apache-2.0
package skein.rt.scope;

import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import skein.rt.World;

/** Work on a thread of an executor, as the child of a scope. */
public final class Child implements Runnable {
    private final Runnable work;
    private final Region region;

    private Child(Runnable work, Region region) {
        this.work = work;
        this.region = region;
    }

    /** Runs {@code work} on {@code executor}, or in a simulation if this is one; as a child where {@link Region#CHILD} is bound. */
    public static void start(Runnable work, Executor executor) {
        Region region = Region.childHere();
        if (region == null) {
            if (!World.starts(work)) executor.execute(work);
            return;
        }
        Child child = new Child(work, region);
        try {
            if (!World.starts(child)) executor.execute(child);
        } catch (Throwable t) { // refused, or no memory for a thread: the scope must not wait for it
            region.cancellable().ended(null, t);
            throw t;
        }
    }

    /** Whether what is started here is a child. */
    public static boolean here() {
        return Region.CHILD.deref() != null;
    }

    @Override
    public void run() {
        Cancellable child = region.cancellable();
        Throwable thrown = null;
        try {
            if (child.enter()) work.run();
            else thrown = new CancellationException("Cancelled before it began.");
        } catch (Throwable t) { // whatever the work throws is for the scope
            thrown = t;
            child.failed(t);
        }
        child.exit();
        child.ended(null, thrown);
    }
}
