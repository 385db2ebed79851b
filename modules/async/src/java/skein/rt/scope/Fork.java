// SPDX-License-Identifier: Apache-2.0
package skein.rt.scope;

import clojure.lang.IFn;
import skein.base.Cancelled;
import skein.rt.Region;

/** The future of a child of a scope, which a virtual thread runs. Cancelling it cancels its region. */
public final class Fork extends VirtualFuture {
    private Object value; // used only by the child's thread
    private Throwable thrown; // likewise

    private Fork(IFn function, Region region) {
        super(function, region);
    }

    private static String nameOf(Region region) {
        String name = region.name() == null ? region.site() : region.name();
        return name == null ? "skein-fork-" + region.number() : "skein-fork-" + name + "-" + region.number();
    }

    /** Starts a virtual thread that calls {@code function}, as the child with this region. */
    public static Fork start(IFn function, Region region) {
        Fork fork = new Fork(function, region);
        fork.start(nameOf(region));
        return fork;
    }

    @Override
    public void run() {
        super.run();
        if (isCancelled() && thrown == null) thrown = Cancelled.fromOutside("The fork was cancelled.");
        region.cancellable().ended(value, thrown, this::observe);
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
}
