// SPDX-License-Identifier: Apache-2.0
package skein.rt.watch;

import skein.rt.Frame;

/** Notes for every block who spawned it, for its stack trace if it fails. A microsecond or two for each block. */
public final class SpawnTraces implements Probe {
    @Override
    public void spawned(Frame frame) {
        AsyncTrace.noteSpawner(frame);
    }
}
