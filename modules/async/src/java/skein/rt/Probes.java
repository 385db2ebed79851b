// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.List;
import skein.rt.watch.Probe;

/** Several probes as one. */
final class Probes implements Probe {
    private final Probe[] all;

    Probes(List<Probe> probes) {
        all = probes.toArray(new Probe[0]);
    }

    @Override
    public void spawned(Frame frame) {
        for (Probe p : all) p.spawned(frame);
    }

    @Override
    public void resumed(Frame frame) {
        for (Probe p : all) p.resumed(frame);
    }

    @Override
    public void parking(Frame frame, int state, Object port) {
        for (Probe p : all) p.parking(frame, state, port);
    }

    @Override
    public void finished(Frame frame, Object value) {
        for (Probe p : all) p.finished(frame, value);
    }

    @Override
    public void failed(Frame frame, Throwable thrown) {
        for (Probe p : all) p.failed(frame, thrown);
    }

    @Override
    public void handedOff(Frame frame, Thread thread) {
        for (Probe p : all) p.handedOff(frame, thread);
    }
}
