// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

/** Records for every block the code that spawned it, for its stack trace if it fails. Costs one or two microseconds. */
public final class SpawnTraces implements Observer {
    @Override
    public void spawned(Frame frame) {
        AsyncTrace.noteSpawner(frame);
    }
}
