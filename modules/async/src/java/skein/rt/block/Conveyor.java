// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

/**
 * Carries a thread's context (logging context, tracing span, any ThreadLocal) along with the blocks that it
 * spawns. Installed by {@link Hooks#conveyor}.
 */
public interface Conveyor {
    /** Returns the context of this thread. Called when a block is spawned. */
    Object capture();

    /** Makes {@code context} this thread's, before a block runs. Returns the thread's own context. */
    Object install(Object context);

    /** Restores the context that {@link #install} returned, after the block has parked or ended. */
    void restore(Object outer);
}
