// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import skein.rt.Uncaught;

/** Calls all installed probes. Their exceptions do not reach a block. */
final class Probes implements Probe {
    /** A probe is removed after this number of exceptions. */
    private static final int MOST_THROWN = 100;

    private final Probe[] all;
    private final AtomicInteger[] thrown; // of each probe

    Probes(List<Probe> probes) {
        all = probes.toArray(new Probe[0]);
        thrown = new AtomicInteger[all.length];
        for (int i = 0; i < all.length; i++) thrown[i] = new AtomicInteger();
    }

    private void each(Consumer<Probe> tell) {
        for (int i = 0; i < all.length; i++) {
            try {
                tell.accept(all[i]);
            } catch (Throwable t) { // an exception of a probe must not reach the block
                if (thrown[i].incrementAndGet() == MOST_THROWN) {
                    Hooks.removeProbe(all[i]);
                    Uncaught.keep(t);
                }
            }
        }
    }

    @Override
    public void spawned(Frame frame) {
        each(p -> p.spawned(frame));
    }

    @Override
    public void resumed(Frame frame) {
        each(p -> p.resumed(frame));
    }

    @Override
    public void parking(Frame frame, int state, Object port) {
        each(p -> p.parking(frame, state, port));
    }

    @Override
    public void suspended(Frame frame) {
        each(p -> p.suspended(frame));
    }

    @Override
    public void finished(Frame frame, Object value) {
        each(p -> p.finished(frame, value));
    }

    @Override
    public void failed(Frame frame, Throwable t) {
        each(p -> p.failed(frame, t));
    }

    @Override
    public void handedOff(Frame frame, Thread thread) {
        each(p -> p.handedOff(frame, thread));
    }
}
