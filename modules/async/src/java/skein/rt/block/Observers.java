// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import skein.rt.Channel;
import skein.rt.Operation;
import skein.rt.Uncaught;
import skein.rt.Waiter;

/** Tells all installed observers. Their exceptions do not reach a block. */
final class Observers implements Observer {
    /** An observer is removed after this number of exceptions. */
    private static final int MOST_THROWN = 100;

    private final Observer[] all;
    private final AtomicInteger[] thrown; // of each observer

    Observers(List<Observer> observers) {
        all = observers.toArray(new Observer[0]);
        thrown = new AtomicInteger[all.length];
        for (int i = 0; i < all.length; i++) thrown[i] = new AtomicInteger();
    }

    private void each(Consumer<Observer> tell) {
        for (int i = 0; i < all.length; i++) {
            try {
                tell.accept(all[i]);
            } catch (Throwable t) { // an exception of an observer must not reach the block
                if (thrown[i].incrementAndGet() == MOST_THROWN) {
                    Hooks.remove(all[i]);
                    Uncaught.keep(t);
                }
            }
        }
    }

    @Override
    public void spawned(Frame block) {
        each(o -> o.spawned(block));
    }

    @Override
    public void resumed(Frame block) {
        each(o -> o.resumed(block));
    }

    @Override
    public void parking(Frame block, Operation operation, Object port) {
        each(o -> o.parking(block, operation, port));
    }

    @Override
    public void refused(Frame block) {
        each(o -> o.refused(block));
    }

    @Override
    public void suspended(Frame block) {
        each(o -> o.suspended(block));
    }

    @Override
    public void ended(Frame block, Object value, Throwable t) {
        each(o -> o.ended(block, value, t));
    }

    @Override
    public void handedOff(Frame block, Thread thread) {
        each(o -> o.handedOff(block, thread));
    }

    @Override
    public void waits(Waiter waiter, Object port) {
        each(o -> o.waits(waiter, port));
    }

    @Override
    public void goesOn(Waiter waiter) {
        each(o -> o.goesOn(waiter));
    }

    @Override
    public void makes(Channel port) {
        each(o -> o.makes(port));
    }

    @Override
    public void made(Channel port) {
        each(o -> o.made(port));
    }
}
